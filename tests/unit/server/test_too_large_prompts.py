"""A prompt that is longer than a line that the agent takes: 16 MiB for the embedded one."""

import base64
from typing import Any

import pytest
from support.project import Editor, Project, step
from support.raw_client import RpcError

TEXT = {"text": "a" * 17_000_000}
IMAGES = {
    "text": "Look.",
    "images": [{"mimeType": "image/png", "data": base64.b64encode(bytes(9_000_000)).decode()}] * 2,
}


@pytest.fixture
def editor(project: Project) -> Editor:
    return project.editor(step("First."), step("Second."))


@pytest.mark.parametrize("params", [TEXT, IMAGES], ids=["text", "images"])
def test_it_is_refused_with_its_size_and_the_session_goes_on(editor: Editor, params: Any) -> None:
    assert editor.ask_agent("Go.")["text"] == "First."
    with pytest.raises(RpcError, match=r"is \d\d\.\d MB .* at most 16\.7 MB at once\.") as refused:
        editor.call("agent/prompt", params)
    assert refused.value.data["kind"] == "unsupported"
    assert editor.ask_agent("Again.")["text"] == "Second."
