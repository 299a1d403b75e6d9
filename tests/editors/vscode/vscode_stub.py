"""More of an editor that is not there, for modules that use more than the least of it."""

from typing import Any

import pytest
from support import vscode_modules

#: A path as it is given, a place, a range, and documents of which nobody tells.
VALUES = """
const { posix } = require('node:path');
const uriOf = (path) => ({ path, fsPath: path, scheme: 'file', toString: () => `file://${path}` });
Object.assign(vscode, {
  Uri: {
    file: uriOf,
    parse: (text) => uriOf(text.replace('file://', '')),
    joinPath: ({ path }, more) => uriOf(posix.join(path, more)),
  },
  Position: class { constructor(line, character) { Object.assign(this, { line, character }); } },
  Range: class {
    constructor(line, character, endLine, endCharacter) {
      this.start = { line, character };
      this.end = { line: endLine, character: endCharacter };
    }
  },
  CommentMode: {},
  CommentThreadCollapsibleState: {},
  commands: {},
  comments: { createCommentController: () => ({ dispose() {} }) },
});
"""


def returned(code: str, argument: object = None, **modules: str) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        # What a module imports is fixed when it is: it must be there before.
        patch.setattr(vscode_modules, "EDITOR", vscode_modules.EDITOR + VALUES)
        return vscode_modules.returned(code, argument, **modules)
