"""The person's editor: its files and buffers, what the person does to them, and what the server
asks of them."""

import contextlib
from dataclasses import dataclass, field
from pathlib import Path

from provenance.desk import Desk
from provenance.hub import Json
from provenance.oracle import Oracle, State, words
from provenance.person import Buffer, edited


@dataclass
class File:
    """``state`` is what is on disk, ``hot`` the unsaved text that a closed editor has kept."""

    name: str
    path: Path
    state: State
    buffer: Buffer | None = None
    hot: Buffer | None = None


@dataclass
class Editor:
    """``cause`` is what is being done, for what the oracle says of it."""

    desk: Desk
    folder: Path
    files: list[File]
    oracle: Oracle
    #: The person saves over what came to the disk: some editors do not ask.
    overwrites: bool = False
    cause: str = ""
    log: list[str] = field(default_factory=list)
    _words: int = 0

    # -- what the person sees

    def now(self, file: File) -> State:
        return file.buffer.state if file.buffer else file.state

    def say(self, what: str) -> None:
        texts = " ; ".join(
            f"{file.name}{'' if file.buffer else ' (closed)'} {self.now(file).text!r}"
            for file in self.files
        )
        self.log.append(f"{what}\n    {texts}")

    def word(self) -> str:
        """A new word of the person's; every third has a letter that is two units in UTF-16."""
        self._words += 1
        new = f"p{self._words}" + ("𝒜é" if self._words % 3 == 0 else "")
        self.oracle.born([new])
        return new

    def _file(self, number: int) -> File:
        return self.files[number % len(self.files)]

    def _typed(self, file: File, text: str) -> None:
        """The person makes the open document this text, as one step."""
        buffer = file.buffer
        assert buffer is not None
        before = buffer.state
        self._tell("didChange", buffer.step(before.written(text)))
        self.oracle.touched(file.name, "p", before.text, text)
        self.oracle.seen(file.name, text)

    def _tell(self, name: str, params: Json | None) -> None:
        if params is not None:
            self.desk.server.notify(f"textDocument/{name}", params)

    # -- the server's requests

    def take_edit(self, params: Json) -> Json:
        (of_document,) = params["edit"]["documentChanges"]
        item = of_document["textDocument"]
        file = self._shown(item["uri"])
        if file is None or file.buffer is None or file.buffer.version != item["version"]:
            return {"applied": False, "failureReason": "another version"}
        before = file.buffer.state
        after = edited(before.text, of_document["edits"])
        state = self.oracle.server_changed(file.name, before, after, self.cause)
        self._tell("didChange", file.buffer.step(state))
        return {"applied": True}

    def asked_to_save(self, params: Json) -> Json:
        file = self._shown(params["uri"])
        if file is None or file.buffer is None:
            return {"saved": False}
        if params.get("version") not in (None, file.buffer.version):
            return {"saved": False}
        return {"saved": self._saved_unless_newer(file)}

    def asked_to_reload(self, params: Json) -> Json:
        file = self._shown(params["uri"])
        if file is None or file.buffer is None or file.buffer.dirty:
            return {"reloaded": False}
        self._look_at_disk(file)
        self._reload(file)
        return {"reloaded": True}

    def _shown(self, uri: str) -> File | None:
        return next((f for f in self.files if f.buffer and f.buffer.uri == uri), None)

    def _saved_unless_newer(self, file: File) -> bool:
        """An editor does not save over what it has not read: it asks, and the person says no."""
        buffer = file.buffer
        assert buffer is not None
        self._look_at_disk(file)
        if file.state.text != buffer.disk and not self.overwrites:
            return False
        file.path.write_bytes(buffer.text.encode())
        file.state = buffer.state
        buffer.disk = buffer.text
        self._tell("didSave", {"textDocument": {"uri": buffer.uri}})
        return True

    def _reload(self, file: File) -> None:
        """The editor shows what is on disk, as one step that can be undone."""
        buffer = file.buffer
        assert buffer is not None
        buffer.disk = file.state.text
        self._tell("didChange", buffer.step(file.state))

    def _look_at_disk(self, file: File) -> None:
        """What somebody made of the file, where that was not the person."""
        text = file.path.read_bytes().decode() if file.path.exists() else ""
        if text != file.state.text:
            file.state = self.oracle.server_changed(file.name, file.state, text, self.cause)

    # -- the person's steps

    def open(self, number: int) -> None:
        file = self._file(number)
        if file.buffer is not None:
            return
        if file.hot is not None:
            buffer, file.hot = file.hot, None
            buffer.version, buffer.done, buffer.undone = 1, [], []
        else:
            buffer = Buffer(file.path.as_uri(), file.path, file.state, file.state.text)
        file.buffer = buffer
        item = {
            "uri": buffer.uri,
            "languageId": "text",
            "version": buffer.version,
            "text": buffer.text,
        }
        self._tell("didOpen", {"textDocument": item})

    def close(self, number: int, keep: int = 0) -> None:
        """``keep``: the editor keeps what is unsaved and shows it at the next opening."""
        file = self._file(number)
        buffer = file.buffer
        if buffer is None:
            return
        file.buffer = None
        if keep and buffer.dirty:
            file.hot = buffer
        elif buffer.text == file.state.text:  # nobody was asked, so that nothing was given up
            file.state = buffer.state
        else:  # the person gives up what was not saved, and what was undone in it
            self.oracle.touched(file.name, "p", buffer.text, file.state.text)
            file.state = buffer.state.back_to(file.state)
        self._tell("didClose", {"textDocument": {"uri": buffer.uri}})

    def type(self, number: int, line: int, gap: int) -> None:
        file = self._file(number)
        if file.buffer is None:
            return
        lines = file.buffer.text.splitlines()
        if not lines:
            return
        here = words(lines[line % len(lines)])
        here.insert(gap % (len(here) + 1), self.word())
        lines[line % len(lines)] = "".join(f" {word}" for word in here)
        self._typed(file, "".join(f"{line}\n" for line in lines))

    def newline(self, number: int, line: int) -> None:
        file = self._file(number)
        if file.buffer is None:
            return
        lines = file.buffer.text.splitlines(keepends=True)
        lines.insert(line % (len(lines) + 1), f" {self.word()} {self.word()}\n")
        self._typed(file, "".join(lines))

    def delete(self, number: int, place: int) -> None:
        """The person takes out a word, whosever it is."""
        file = self._file(number)
        if file.buffer is None or not (there := words(file.buffer.text)):
            return
        gone = there[place % len(there)]
        lines = file.buffer.text.splitlines()
        kept = ["".join(f" {w}" for w in words(line) if w != gone) for line in lines]
        self._typed(file, "".join(f"{line}\n" for line in kept))

    def undo(self, number: int, *, redo: bool = False) -> None:
        file = self._file(number)
        if file.buffer is None:
            return
        before = file.buffer.text
        self._tell("didChange", file.buffer.redo() if redo else file.buffer.undo())
        self.oracle.touched(file.name, "p", before, file.buffer.text)
        self.oracle.seen(file.name, file.buffer.text)

    def save(self, number: int) -> None:
        file = self._file(number)
        if file.buffer is not None and file.buffer.dirty:
            self._saved_unless_newer(file)

    def other(self, number: int, line: int) -> None:
        """Another program saves the file; an editor that has nothing unsaved shows it."""
        file = self._file(number)
        self._look_at_disk(file)
        before = file.state.text
        lines = before.splitlines(keepends=True)
        self._words += 1
        new = f"x{self._words}"
        self.oracle.born([new])
        lines.insert(line % (len(lines) + 1), f" {new}\n")
        clean = file.buffer is not None and not file.buffer.dirty
        file.path.write_bytes("".join(lines).encode())
        file.state = file.state.written("".join(lines))
        self.oracle.touched(file.name, "p", before, file.state.text)
        self.oracle.seen(file.name, file.state.text)
        if clean:
            self._reload(file)

    @property
    def may_be_half_written(self) -> bool:
        """Whether a file is the beginning of what an open document shows, or has shown."""
        open_files = [(file.state.text, file.buffer) for file in self.files if file.buffer]
        return any(
            text != shown.text and shown.text.startswith(text)
            for text, buffer in open_files
            for shown in (buffer.state, *buffer.done)
        )

    def look(self) -> None:
        """Takes in what is on disk now."""
        for file in self.files:
            with contextlib.suppress(FileNotFoundError):
                self._look_at_disk(file)
