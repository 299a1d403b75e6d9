"""What each editor needs, as changes of its own files, and what a person types in it then.

The same lines as on the editor's page in docs/editors/; a test holds them to each other.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsp_agent.cli.editors import blocks, helix, jsonc
from lsp_agent.cli.editors.changes import CannotChange, Change, read
from lsp_agent.protocol.errors import UsageError

_HOME = "https://github.com/lsp-agent/lsp-agent"
_ACTION = "write `agent: what you want` in a line, and choose the code action on it"

_KAKOUNE = r"""
hook global BufCreate [^*].* %{
    # A server that is not installed would take all of them out of the buffer.
    evaluate-commands %sh{
        named() { printf '%s\n' "$kak_opt_lsp_servers" | sed -n "s/^ *$1 *$/\1/p"; }
        programs=$(named 'command = "\(.*\)"')
        for program in ${programs:-$(named '\[\([^].]*\)\]')}; do
            command -v "$program" >/dev/null || echo 'set-option buffer lsp_servers ""'
        done
    }
    set-option -add buffer lsp_servers %{
        [lsp-agent]
        root_globs = [".git", ".lsp-agent.toml"]
        command = "lsp-agent"
        args = ["serve"]
    }
    set-option -add buffer lsp_language_id ''
}
# A file of no type has the agent, too.
hook global BufSetOption lsp_language_id= %{ set-option buffer lsp_language_id plaintext }
# Asked for at each rest, they would take the answer from the menu that you have opened.
set-option global lsp_auto_show_code_actions false
try %{ lsp-enable }

map global user a ':lsp-code-actions<ret>' -docstring 'ask, answer, review or stop the agent'
map global user c ':lsp-execute-command lspAgent.openChat "[]"<ret>' -docstring 'the conversation'
map global user s ':lsp-execute-command lspAgent.abort "[]"<ret>' -docstring 'stop the agent'
map global user n ':lsp-execute-command lspAgent.nextChange "[]"<ret>' -docstring 'next change'
"""

_VIM_LSP = """
augroup lsp_agent
  autocmd!
  autocmd User lsp_setup call lsp#register_server({
        \\ 'name': 'lsp-agent',
        \\ 'cmd': {server_info -> ['lsp-agent', 'serve']},
        \\ 'allowlist': ['*'],
        \\ 'root_uri': {server_info -> lsp#utils#path_to_uri(
        \\   lsp#utils#find_nearest_parent_file_directory(
        \\     lsp#utils#get_buffer_path(), ['.git/', '.lsp-agent.toml']))},
        \\ })
augroup END

command! -nargs=+ Agent call lsp#ui#vim#execute_command#_execute({
      \\ 'server_name': 'lsp-agent',
      \\ 'command_name': 'lspAgent.prompt',
      \\ 'command_args': [{'text': <q-args>,
      \\   'context': [{'uri': lsp#utils#get_buffer_uri()}]}],
      \\ })
nnoremap <leader>a <plug>(lsp-code-action)
"""

_NEOVIM = f"""
vim.pack.add({{ {{ src = "{_HOME}", version = "neovim" }} }})
require("lsp_agent").setup()
"""


@dataclass(frozen=True, slots=True)
class Recipe:
    """``programs`` show that the editor is here; ``changes`` are to be made, and may say why not
    (CannotChange); ``then`` is what is left for the person to do."""

    name: str
    title: str
    programs: Sequence[str]
    changes: Callable[[], list[Change]]
    then: str

    @property
    def is_here(self) -> bool:
        return any(shutil.which(program) for program in self.programs)


def recipe(name: str) -> Recipe:
    """Raises UsageError."""
    found = RECIPES.get(name)
    if found is None:
        raise UsageError(f"there is no editor {name!r} to set up; there are {', '.join(RECIPES)}")
    return found


def server_program() -> str:
    """What an editor starts, by its whole path: one with windows has another PATH than a shell.

    Raises UsageError where it will not be there for long.
    """
    beside = Path(sys.executable).parent / "lsp-agent"
    if "archive-v0" in beside.parts:  # uv's cache
        raise UsageError(
            "uvx keeps lsp-agent only for now, and an editor needs it to stay: say `uv tool install"
            " lsp-agent`, then `lsp-agent setup` again"
        )
    return shutil.which("lsp-agent") or str(beside)


# -- the editors


def _helix() -> list[Change]:
    path = _config("helix/languages.toml")
    change = _changed(path, lambda text: helix.with_agent(text, _in_terminal()))
    without = helix.languages_without_agent(change.after or "")
    if not without:
        return [change]
    left_to_do = (
        f"without the agent, as its own servers are not known here: {', '.join(without)}; give each"
        f' its `language-servers` and "lsp-agent" behind them (`hx --health {without[0]}` shows'
        " what it has now)"
    )
    return [replace(change, left_to_do=left_to_do)]


def _kakoune() -> list[Change]:
    def changed(text: str) -> str:
        start = "" if "kak-lsp" in blocks.without_block(text, "#") else "eval %sh{kak-lsp}\n"
        return blocks.with_block(text, "#", start + _KAKOUNE.replace('"lsp-agent"', _quoted()))

    return [_changed(_config("kak/kakrc"), changed)]


def _zed() -> list[Change]:
    binary = {"path": server_program(), "arguments": ["serve"]}

    def changed(text: str) -> str:
        text = jsonc.with_value(text, ["lsp", "marksman", "binary"], binary)
        return jsonc.with_value(text, ["languages", "Markdown", "language_servers"], ["marksman"])

    return [_changed(_config("zed/settings.json"), changed)]


def _sublime() -> list[Change]:
    base = Path.home() / "Library/Application Support/Sublime Text"
    folder = base if base.exists() else _config("sublime-text")
    client = {"enabled": True, "command": [server_program(), "serve"], "selector": "source | text"}
    path = folder / "Packages/User/LSP.sublime-settings"
    return [_with_json(path, ["clients", "lsp-agent"], client)]


def _kate() -> list[Change]:
    server = {
        "command": [server_program(), "serve"],
        "root": ".",
        "rootIndicationFileNames": [".git", ".lsp-agent.toml"],
        "highlightingModeRegex": "^(Markdown|Normal)$",
        # It takes an edit within 2 s of a command alone, and on whatever its text is by then.
        "initializationOptions": {"edits": {"review": "before"}},
    }
    return [_with_json(_config("kate/lspclient/settings.json"), ["servers", "lsp-agent"], server)]


def _vim() -> list[Change]:
    home = Path.home()
    if any((home / ".vim").glob("**/coc.nvim")):
        server = {
            "command": _in_terminal(),
            "args": ["serve"],
            "filetypes": ["*"],
            "rootPatterns": [".git", ".lsp-agent.toml"],
        }
        path = home / ".vim/coc-settings.json"
        return [_with_json(path, ["languageserver", "lsp-agent"], server)]
    vimrc = home / ".vimrc"
    path = _first_there(vimrc, home / ".vim/vimrc", _config("vim/vimrc")) or vimrc
    body = _VIM_LSP.replace("['lsp-agent',", f"['{_in_terminal()}',")
    return [_changed(path, lambda text: blocks.with_block(text, '"', body))]


def _jetbrains() -> list[Change]:
    template = {
        "id": "lsp-agent",
        "name": "lsp-agent",
        "programArgs": {"default": f"{server_program()} serve"},
        "fileTypeMappings": [{"fileType": {"patterns": ["*.*"]}, "languageId": "plaintext"}],
    }
    from lsp_agent.protocol.settings.files import user_settings_path  # noqa: PLC0415  slow to load

    path = user_settings_path().parent / "lsp4ij" / "template.json"
    return [Change(path, read(path), json.dumps(template, indent=2) + "\n")]


def _emacs() -> list[Change]:
    init = _emacs_init()
    folder = init.parent if init.name == "init.el" else init.parent / ".emacs.d"
    package = folder / "lsp-agent" / "lsp-agent.el"
    source = Path(__file__).with_name("lsp-agent.el").read_text(encoding="utf-8")
    program = _in_terminal()
    body = f'(load "{package}")'
    if program != "lsp-agent":
        body = f'(setq lsp-agent-program "{program}")\n{body}'
    return [
        Change(package, read(package), source),
        _changed(init, lambda text: blocks.with_block(text, ";;", body)),
    ]


def _emacs_init() -> Path:
    """What Emacs reads, by the rules of its startup.el."""
    home, folder = Path.home(), _config("emacs")
    dot_file, dot_folder = home / ".emacs", home / ".emacs.d"
    if folder.exists() and not dot_file.exists() and not dot_folder.exists():
        return folder / "init.el"
    new = (dot_folder if dot_folder.exists() else folder) / "init.el"
    return _first_there(home / ".emacs.el", dot_file) or new


def _neovim() -> list[Change]:
    program = shutil.which("nvim")
    said = (
        program
        and subprocess.run(  # noqa: S603 - the person's own editor
            [program, "--version"], capture_output=True, text=True, check=False
        ).stdout
    )
    if said is None:
        raise CannotChange(
            "no nvim was found on PATH: install Neovim, or give your plugin manager the line that"
            f" {_HOME}/tree/neovim#install has for it"
        )
    version = re.match(r"NVIM v0\.(\d+)", said)
    if version is None or int(version[1]) < 12:
        raise CannotChange(
            "this Neovim has no plugin manager of its own (0.12 has one): give yours the line that"
            f" {_HOME}/tree/neovim#install has for it"
        )
    lua, vim = _config("nvim/init.lua"), _config("nvim/init.vim")
    if vim.exists() and not lua.exists():  # beside an init.lua it would no longer be read
        body = f"lua << EOF{_NEOVIM}EOF"
        return [_changed(vim, lambda text: blocks.with_block(text, '"', body))]
    return [_changed(lua, lambda text: blocks.with_block(text, "--", _NEOVIM))]


def _vscode() -> list[Change]:
    raise CannotChange(
        "it needs no file: install the extension lsp-agent, which brings its own server"
        f" ({_HOME}/tree/main/editors/vscode)"
    )


def _config(name: str) -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / name


def _first_there(*paths: Path) -> Path | None:
    return next((path for path in paths if path.exists()), None)


def _in_terminal() -> str:
    """What an editor in a terminal starts, which has the shell's PATH."""
    program = server_program()
    return "lsp-agent" if shutil.which("lsp-agent") == program else program


def _quoted() -> str:
    return f'"{_in_terminal()}"'


def _changed(path: Path, change: Callable[[str], str]) -> Change:
    """Raises CannotChange with the file's name, and what an empty one would get."""
    before = read(path)
    try:
        return Change(path, before, change(before or ""))
    except CannotChange as error:
        message = f"{path} is left alone: {error}; put the lines above into it by hand"
        raise CannotChange(message, change("")) from None


def _with_json(path: Path, keys: Sequence[str], value: object) -> Change:
    return _changed(path, lambda text: jsonc.with_value(text, keys, value))


RECIPES: Mapping[str, Recipe] = {
    each.name: each
    for each in (
        Recipe("neovim", "Neovim", ["nvim"], _neovim, "start Neovim and say `:Agent connect`"),
        Recipe("vscode", "VS Code", ["code", "codium"], _vscode, "open the view Agent"),
        Recipe("helix", "Helix", ["hx", "helix"], _helix, f"{_ACTION} (`space a`)"),
        Recipe("emacs", "Emacs", ["emacs"], _emacs, "`M-x eglot` in a file, then `C-c a p`"),
        Recipe("kakoune", "Kakoune", ["kak"], _kakoune, f"{_ACTION} (`space a`)"),
        Recipe(
            "zed",
            "Zed",
            ["zed", "zeditor"],
            _zed,
            f"install the extension Marksman; in a Markdown file, {_ACTION}",
        ),
        Recipe(
            "sublime",
            "Sublime Text",
            ["subl"],
            _sublime,
            f"install the package LSP and open a folder; then {_ACTION}",
        ),
        Recipe("kate", "Kate", ["kate"], _kate, f"enable the plugin LSP Client; then {_ACTION}"),
        Recipe("vim", "Vim", ["vim"], _vim, f"with vim-lsp or coc.nvim, {_ACTION} (`<leader>a`)"),
        Recipe(
            "jetbrains",
            "JetBrains IDEs",
            ["idea", "pycharm", "webstorm", "goland", "clion", "rustrover"],
            _jetbrains,
            "install the plugin LSP4IJ; in Settings, Languages & Frameworks, Language Servers,"
            " press +, and in Template choose `Import from custom template…` and the folder above",
        ),
    )
}
