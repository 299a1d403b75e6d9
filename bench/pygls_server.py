"""The floor of a start: the least that pygls can be."""

from pygls.lsp.server import LanguageServer

if __name__ == "__main__":
    LanguageServer("floor", "1").start_io()
