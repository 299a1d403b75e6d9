"""The end of the client that the command line's trials have."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from lsp_agent.cli import editor_client
from lsp_agent.cli.editor_client import EditorClient, RequestError


def test_a_server_that_is_slow_to_end_is_an_error_with_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editor_client, "END_SECONDS", 0.0, raising=False)

    async def deny(_question: Any) -> None: ...

    async def end() -> None:
        editor = EditorClient(
            tmp_path, on_event=lambda _: None, on_progress=lambda _: None, answer=deny
        )
        async with anyio.create_task_group() as tasks:
            await editor.connect(tasks, {})
            try:
                with pytest.raises(RequestError, match="did not end"):
                    await editor.close()
            finally:
                await editor.kill()
                tasks.cancel_scope.cancel()

    anyio.run(end)
