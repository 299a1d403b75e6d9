"""The floor of a start: the least that pygls can be, with one custom request."""

from pygls.lsp.server import LanguageServer

SERVER = LanguageServer("floor", "1")


@SERVER.feature("agent/edits")
def edits(_server: LanguageServer, _params: object) -> dict[str, list[object]]:
    return {"edits": []}


if __name__ == "__main__":
    SERVER.start_io()
