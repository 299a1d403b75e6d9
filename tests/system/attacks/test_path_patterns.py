"""``read: docs/*`` allows what lies in ``docs``, and nothing that is only called so."""

from collections.abc import Callable, Mapping

import pytest
from ground import MODES, Ground
from support.project import call, step

Report = Callable[[str, str, str, str], None]

#: What lies elsewhere, however it is named: what is meant, and the words for it.
ELSEWHERE: Mapping[str, str] = {
    "dots": "docs/../private/x",
    "dots, twice": "docs/deep/../../private/x",
    "a link to a file": "docs/link",
    "a link to a folder": "docs/out/x",
    "absolute, with dots": "{folder}/docs/../private/x",
    "plainly": "private/x",
    "a link that leads in": "into/a.txt",
}
IN_DOCS = ("docs/a.txt", "./docs/a.txt", "docs/deep/../a.txt", "{folder}/docs/a.txt", "docs/near")


@pytest.mark.parametrize("mode", MODES)
def test_a_pattern_for_paths_sees_where_they_lead(
    ground: Ground, mode: str, report: Report
) -> None:
    ground.file("private/x", "private\n")
    ground.file("docs/a.txt", "public\n")
    (ground.folder / "docs" / "deep").mkdir()
    (ground.folder / "docs" / "link").symlink_to("../private/x")
    (ground.folder / "docs" / "out").symlink_to("../private")
    (ground.folder / "docs" / "near").symlink_to("a.txt")
    (ground.folder / "into").symlink_to("docs")

    def read(path: str) -> dict[str, object]:
        return call("read", path=path.replace("{folder}", str(ground.folder)))

    editor = ground.attacked(
        mode,
        step("", *map(read, IN_DOCS)),
        step("", *map(read, ELSEWHERE.values())),
        step("Done."),
        options={"permissions": {"read": "ask", "allow": ["read: docs/*"]}},
    )
    editor.ask_agent("Go.")
    ground.check(editor)
    texts = editor.tool_texts()
    assert texts[: len(IN_DOCS)] == ["public\n"] * len(IN_DOCS)
    assert len(editor.received("agent/ask")) == len(ELSEWHERE)
    for name, text in zip(ELSEWHERE, texts[len(IN_DOCS) :], strict=True):
        assert "declined" in text
        report(f"past a pattern for paths: {name}", mode, "asked", ground.shown(text))
