"""Secrets are covered in what a model is sent and what is stored, and stand in what it writes."""

import json
import re
from pathlib import Path

import pytest
from support.project import Editor, Project, bash, call, edit, step, write
from support.raw_client import Json, wait_until

ASK: Json = {"events": True, "ask": True}
SECRET = "v3ry-much-a-s3cret"
#: Written apart, so that no scanner takes it for somebody's.
SHAPED = "ghp_" + "a1B2" * 9
COVER = re.compile(r"\[covered:[^\]]+\]")


@pytest.fixture
def shop(project: Project) -> Project:
    """With a secret that is known by a ``.env`` file, and a file that has it as well."""
    project.file(".env", f"SHOP_TOKEN={SECRET}\n")
    project.file("shop.ini", f"name = shop\ntoken = {SECRET}\n")
    return project


def asked(project: Project, *steps: Json, **permissions: object) -> Editor:
    """After a turn with these steps, in which all is allowed."""
    options: Json = {"permissions": permissions}
    editor = project.editor(*steps, step("Done."), client=ASK, options=options)
    editor.handlers["agent/ask"] = lambda _question: {"optionId": "allow"}
    editor.ask_agent("Go.")
    return editor


def again(project: Project, editor: Editor, agent: Json, *steps: Json) -> list[str]:
    """What the same server's tools say in a turn of another session, with other steps."""
    Path(agent["command"][-1]).write_text(json.dumps({"steps": [*steps, step("Done.")]}))
    known = len(editor.tool_texts())
    editor.ask_agent("Go.", sessionId=editor.call("agent/newSession")["sessionId"])
    return editor.tool_texts()[known:]


def notices(editor: Editor) -> list[str]:
    return [each["message"] for each in editor.events("notice") if "covered" in each["message"]]


def test_what_the_agent_reads_comes_with_its_secrets_covered_and_counted(shop: Project) -> None:
    shop.file("code.py", f'KEY = "{SHAPED}"\nOTHER = "{SHAPED}"\n')
    editor = asked(
        shop, step("", call("read", path="shop.ini"), call("read", path="code.py")), step("")
    )
    first, second = editor.tool_texts()
    assert re.sub(COVER, "X", first) == "name = shop\ntoken = X\n"
    assert COVER.findall(first)[0].startswith("[covered:SHOP_TOKEN:")
    assert re.sub(COVER, "X", second) == 'KEY = "X"\nOTHER = "X"\n'
    assert notices(editor) == [
        "1 secret covered in the result of read shop.ini",
        "2 secrets covered in the result of read code.py",
    ]


def test_a_private_key_is_covered_also_where_a_read_begins_within_it(project: Project) -> None:
    body = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"]
    key = ["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----"]
    project.file("key.pem", "\n".join([*key, "after", ""]))
    (text,) = asked(project, step("", call("read", path="key.pem", offset=3))).tool_texts()
    assert COVER.sub("X", text) == "X\n-----END PRIVATE KEY-----\nafter\n"


def test_what_the_agent_writes_and_edits_has_the_real_values(shop: Project) -> None:
    agent = shop.agent(step("", call("read", path="shop.ini")), step("Done."))
    editor = shop.editor(agent=agent, client=ASK)
    editor.ask_agent("Go.")
    (cover,) = COVER.findall(editor.tool_texts()[0])
    texts = again(
        shop,
        editor,
        agent,
        step("", write("new.ini", f"token = {cover}\n")),
        step("", edit("shop.ini", f"token = {cover}", f"token = {cover} # ours")),
    )
    assert (shop.folder / "new.ini").read_text() == f"token = {SECRET}\n"
    assert (shop.folder / "shop.ini").read_text() == f"name = shop\ntoken = {SECRET} # ours\n"
    assert SECRET not in "".join(texts)
    assert texts[1].count(cover) == 2  # in the lines before and after


def test_a_cover_that_is_not_known_is_not_written(shop: Project) -> None:
    made_up = "[covered:SHOP_TOKEN:0123456789ab]"
    (text,) = asked(shop, step("", write("shop.ini", f"token = {made_up}\n"))).tool_texts()
    assert f"{made_up} stands for a secret" in text
    assert SECRET in (shop.folder / "shop.ini").read_text()


def test_a_look_alike_that_the_file_has_is_left_alone(shop: Project) -> None:
    made_up = "[covered:SHOP_TOKEN:0123456789ab]"
    shop.file("about.md", f"It looks so: {made_up}\n")
    asked(shop, step("", edit("about.md", f"so: {made_up}", f"like this: {made_up}")))
    assert (shop.folder / "about.md").read_text() == f"It looks like this: {made_up}\n"


def test_what_a_command_says_is_covered_and_no_command_gets_a_cover(shop: Project) -> None:
    agent = shop.agent(step("", bash("sed p -n shop.ini")), step("Done."))
    editor = shop.editor(agent=agent, client=ASK)
    editor.handlers["agent/ask"] = lambda _question: {"optionId": "allow"}
    editor.ask_agent("Go.")
    (text,) = editor.tool_texts()
    assert SECRET not in text
    (cover,) = COVER.findall(text)
    assert notices(editor) == ["1 secret covered in the output of a command"]
    (text,) = again(shop, editor, agent, step("", bash(f"echo '{cover}' > out.txt")))
    assert f"Not run: the command has {cover} in it" in text
    assert not (shop.folder / "out.txt").exists()


def test_no_command_sees_the_key_of_the_covers(shop: Project) -> None:
    (text,) = asked(shop, step("", bash("env"))).tool_texts()
    assert "LSP_AGENT_COVER" not in text


def test_a_prompt_and_what_goes_with_it_is_covered(shop: Project) -> None:
    editor = shop.editor(step("Done."), client=ASK)
    document = editor.open(shop.folder / "shop.ini")
    editor.ask_agent(f"Is {SECRET} right?", context=[{"uri": document.uri}])
    (said,) = editor.call("agent/messages")["messages"][0]["content"]
    assert SECRET not in said["text"]
    assert len(COVER.findall(said["text"])) == 2
    assert notices(editor) == ["2 secrets covered in the prompt"]


def test_what_is_stored_has_no_secret(shop: Project) -> None:
    said = step(f"It is {SECRET}.", bash(f"echo '{SECRET}' > out.txt"))
    asked(shop, said, secrets="show")
    assert (shop.folder / "out.txt").read_text() == f"{SECRET}\n"
    state = [shop.home / "data" / "lsp-agent", shop.home / "state" / "lsp-agent"]

    def stored() -> str:
        files = (file for folder in state for file in folder.rglob("*") if file.is_file())
        names = ("about.json", "messages.jsonl", "commands.log")
        return "".join(file.read_text() for file in files if file.name in names)

    assert wait_until(lambda: stored().count("[covered:SHOP_TOKEN:") >= 3)
    assert SECRET not in stored()


def test_what_is_shown_if_the_person_wants_so_is_not_covered(shop: Project) -> None:
    steps = step("", call("read", path="shop.ini")), step("", bash("sed p -n shop.ini"))
    texts = asked(shop, *steps, secrets="show").tool_texts()
    assert all(SECRET in text for text in texts)
