"""The custom methods: a handler each, registered from the one table in protocol/methods.py."""

from collections.abc import Awaitable, Callable
from typing import Any

from lsp_agent.protocol.wire_model import Model
from lsp_agent.server.context import Context
from lsp_agent.server.methods import (
    answers,
    background,
    chat,
    edits,
    known_agents,
    options,
    permissions,
    prompting,
    review,
    rewinding,
    sessions,
    slash_commands,
)

#: Called on receipt of the request, so it sees the documents as they were then; what it
#: returns may be awaited.
Handler = Callable[[Context, Any], Model | Awaitable[Model]]

HANDLERS: dict[str, Handler] = {
    "prompt": prompting.prompt,
    "retry": prompting.retry,
    "abort": prompting.abort,
    "applyEdit": edits.apply_edit,
    "rejectEdit": edits.reject_edit,
    "keepEdit": edits.keep_edit,
    "editText": edits.edit_text,
    "edits": edits.edits,
    "keepAll": review.keep_all,
    "undoAll": review.undo_all,
    "applyAll": review.apply_all,
    "nextChange": review.next_change,
    "previewEdit": review.preview_edit,
    "revert": edits.revert,
    "prompts": rewinding.prompts,
    "rewind": rewinding.rewind,
    "fork": rewinding.fork,
    "state": sessions.state,
    "messages": sessions.messages,
    "lastAnswer": answers.last_answer,
    "openChat": chat.open_chat,
    "sendChat": chat.send_chat,
    "forkChat": chat.fork_chat,
    "models": sessions.models,
    "agents": known_agents.agents,
    "setModel": sessions.set_model,
    "options": options.options,
    "setOption": options.set_option,
    "compact": sessions.compact,
    "clear": sessions.clear,
    "sessions": sessions.sessions,
    "agentSessions": sessions.agent_sessions,
    "newSession": sessions.new_session,
    "closeSession": sessions.close_session,
    "resumeSession": sessions.resume_session,
    "renameSession": sessions.rename_session,
    "exportSession": sessions.export_session,
    "deleteSession": sessions.delete_session,
    "commands": slash_commands.commands,
    "runCommand": slash_commands.run_command,
    "backgroundCommands": background.background_commands,
    "stopBackgroundCommand": background.stop_background_command,
    "permissions": permissions.permissions,
}
