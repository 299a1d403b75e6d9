"""Looking on for an edit whose fate was not known in time."""

import asyncio
import contextlib
from collections.abc import Callable

from anyio.to_thread import run_sync

from lsp_agent.text.lines import Text, is_long
from lsp_agent.text.merge import preferring
from lsp_agent.workspace.documents.open_document import ContentChange, OpenDocument
from lsp_agent.workspace.placing.flight import Flight, Landed, Strayed, Timings, first_in

#: How often the text may have changed while a long one was compared in a thread.
_MAX_BEHIND = 3


class Late:
    """Looks on for an edit whose fate was not known in time; ends by itself.

    ``change`` is what it is in the ledger, if that is not what was sent last.
    """

    def __init__(
        self,
        document: OpenDocument,
        flight: Flight,
        timings: Timings,
        change: tuple[Text, Text] | None,
    ) -> None:
        self._document = document
        self._change = change
        self._flight = flight
        self._loop = asyncio.get_running_loop()
        self._pause = timings.quiet
        self._landed: Callable[[Text, Text], None] | None = None
        self._missed: Callable[[], None] | None = None
        self._strayed: Callable[[Strayed | None], None] | None = None
        # The state in which the edit was seen to be in.
        self._shown: Text | None = None
        # What compares long texts; whether that is the last time.
        self._looking: asyncio.Task[None] | None = None
        self._ending = False
        self._check: asyncio.Handle | None = self._loop.call_soon(self._look)
        self._end = self._loop.call_later(timings.late, self._look_last)
        self._recording = contextlib.ExitStack()
        self._recording.enter_context(document.record(self._changed, each=not flight.checked))

    def on_landed(self, callback: Callable[[Text, Text], None]) -> None:
        """Calls ``callback(before, after)``, once, if the edit turns out to be in (``around``)."""
        self._landed = callback

    def on_missed(self, callback: Callable[[], None]) -> None:
        """Calls ``callback()`` if the edit is not in when the looking ends."""
        self._missed = callback

    def on_strayed(self, callback: Callable[[Strayed | None], None]) -> None:
        """Calls ``callback(strayed)``, once, if the edit turns out to have gone astray; with None
        if that was known and it is time to send the refused repair again. What is typed then goes
        on being followed until ``stop``."""
        self._strayed = callback

    def stop(self) -> None:
        self._recording.close()
        self._end.cancel()
        if self._looking is not None:
            self._looking.cancel()
        if self._check is not None:
            self._check.cancel()

    def _changed(self, change: ContentChange) -> None:
        if ours := self._flight.changed(change, self._document.clock()):
            self._document.not_typed(ours)
        # A client that refuses what comes between keys has just sent them: it may take it now.
        if self._flight.strayed is not None or (self._change is not None and self._flight.refused):
            self._tell_strayed(self._flight.strayed)
            return
        if ours:  # told before anything else that comes in
            self._shown = change.after
            self._look_soon(0)
        elif self._check is None:
            # A merge costs too much for every key that is typed in a long text.
            self._look_soon(self._pause)

    def _look_soon(self, seconds: float) -> None:
        if self._check is not None:
            self._check.cancel()
        self._check = self._loop.call_later(seconds, self._look)

    def _tell_strayed(self, strayed: Strayed | None) -> None:
        if self._check is not None:
            self._check.cancel()
            self._check = None
        callback, self._strayed = self._strayed, None
        if callback is not None:
            callback(strayed)

    def _look(self) -> None:
        self._check = None
        now = self._shown or self._document.text
        at_once = self._shown is not None and self._change is None  # nothing is to be merged
        if is_long(now.lines) and not at_once:
            if self._looking is None:
                self._looking = self._loop.create_task(self._look_away(now))
            else:
                self._look_soon(self._pause)
        elif (landed := self._flight.landed(now)) is not None:
            self._tell_landed(*around(*self._texts_of(landed), now))

    async def _look_away(self, now: Text) -> None:
        """Compares in a thread, again where the text is another one then; after some times here
        and at once: beside a person who types it would never end."""
        for _ in range(_MAX_BEHIND):
            if attempts := self._flight.to_be_compared(now):
                self._flight.compared(now, await run_sync(first_in, attempts, now))
            landed = self._flight.landed(now)
            texts = await run_sync(around, *self._texts_of(landed), now) if landed else None
            if self._document.text is now or (landed is None and not self._ending):
                break
            now = self._document.text
        else:
            landed = self._flight.landed(now)
            texts = around(*self._texts_of(landed), now) if landed else None
        self._looking = None
        if texts is not None:
            self._tell_landed(*texts)
        elif self._ending:
            self._tell_missed()

    def _texts_of(self, landed: Landed) -> tuple[Text, Text]:
        return self._change or (landed.attempt.base, landed.attempt.meant)

    def _tell_landed(self, before: Text, after: Text) -> None:
        self.stop()
        # A repair that took the edit out again is no landing.
        if self._landed is not None and before != after:
            self._landed(before, after)

    def _look_last(self) -> None:
        self._ending = True
        if self._looking is None:
            self._look()
        if self._looking is None:
            self._tell_missed()

    def _tell_missed(self) -> None:
        self.stop()
        landed = self._flight.landed(self._document.text)
        if landed is None and self._flight.strayed is None and self._missed is not None:
            self._missed()


def around(before: Text, meant: Text, now: Text) -> tuple[Text, Text]:
    """An edit that was sent long ago as it stands in ``now``: the text without it, and ``now``;
    what others have made of it since is in both. As it was sent where a person has since changed
    all of it."""
    if now == meant:
        return before, meant
    without = preferring(meant, now, before)
    return (before, meant) if without == now else (without, now)
