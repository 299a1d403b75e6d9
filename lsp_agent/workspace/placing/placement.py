"""Placing one edit in one open document: sent at a version, proved by the document's states,
made again on newer text where the person typed first, and never sent again once it is in.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, TypeVarTuple, Unpack

import anyio
import anyio.to_thread

from lsp_agent.text.edits import TextEdit, text_edits
from lsp_agent.text.lines import Text, is_long
from lsp_agent.workspace.documents.editor import Editor
from lsp_agent.workspace.documents.open_document import ContentChange, OpenDocument
from lsp_agent.workspace.placing.deaf_client import NOTHING, refusal
from lsp_agent.workspace.placing.flight import (
    Again,
    Decision,
    Flight,
    How,
    Landed,
    Strayed,
    Timings,
    Unknown,
    first_in,
    merged,
)
from lsp_agent.workspace.placing.late import Late, around
from lsp_agent.workspace.placing.line_ends import with_last_line_end_of, with_line_ends_of
from lsp_agent.workspace.placing.not_made import DocumentClosed, NotWanted
from lsp_agent.workspace.placing.repair import carried
from lsp_agent.workspace.placing.signs import likely_in
from lsp_agent.workspace.placing.strays import Attempt

Resolve = Callable[[Text], Text]
Outcome = Literal["in", "conflict", "unknown", "refused"]

Texts = TypeVarTuple("Texts")
Result = TypeVar("Result")

# How often the text may have changed while a long one was compared in a thread.
_MAX_BEHIND = 3


@dataclass(frozen=True, slots=True)
class Proof:
    """How it went. ``before`` and ``meant`` are the texts of the edit as it was last made (for
    ``in``: as it is in). ``refused``: the editor answered no to each send, for the ``reason`` that
    it gave last, and its document does not hold the edit. ``late`` goes on watching such a one
    and an ``unknown`` one."""

    outcome: Outcome
    before: Text
    meant: Text
    how: How | None
    sends: int
    late: Late | None = None
    reason: str | None = None


async def place(
    document: OpenDocument,
    editor: Editor,
    resolve: Resolve,
    label: str,
    *,
    still_wanted: Callable[[], bool],
    prepare: Callable[[Text, Text], Awaitable[None]] | None = None,
    timings: Timings = Timings(),  # noqa: B008 - immutable
) -> Proof:
    """Puts ``resolve(text)`` into the document; the caller holds the document's lock.

    ``resolve`` is asked again for newer text. What it raises propagates where nothing of the
    edit is in; where that cannot be told, the outcome is ``conflict``. ``prepare(before,
    meant)`` is awaited once, before anything is sent. ``still_wanted`` is asked right before
    each send. Raises NotWanted, DocumentClosed and DeafClient. Ends within ``timings.unknown``
    and a little, and as much again for each repair.
    """
    placement = Placement(document, editor, resolve, label, still_wanted, prepare, timings)
    return await placement.run()


class Placement:
    """One ``place``. After a cancellation, ``late`` watches what was sent (None: nothing was)."""

    def __init__(
        self,
        document: OpenDocument,
        editor: Editor,
        resolve: Resolve,
        label: str,
        still_wanted: Callable[[], bool],
        prepare: Callable[[Text, Text], Awaitable[None]] | None,
        timings: Timings,
        *,
        on_disk: bool = False,
    ) -> None:
        self._document = document
        self._editor = editor
        self._resolve = resolve
        self._label = label
        self._still_wanted = still_wanted
        self._prepare = prepare
        self._timings = timings
        self._flight = Flight(
            checked=editor.traits.checks_versions,
            selects_line_ends=editor.traits.selects_line_ends,
            encoding=document.position_encoding,
            timings=timings,
            on_disk=on_disk,
        )
        self._wake = anyio.Event()
        self._all_refused = True
        self._reason: str | None = None
        self.sends = 0
        self._sent_at = 0.0
        self.late: Late | None = None
        # What is sent next: ``meant`` made from ``base``. The change that stands for it in the
        # ledger is the same, save for a repair, which also takes out what went wrong.
        self._base = self._meant = document.text
        self._edits: tuple[Text, Text, list[TextEdit]] = (self._base, self._meant, [])
        self._mark = self._behind = 0
        self._change: tuple[Text, Text] | None = None
        self._failure: Exception | None = None

    async def run(self) -> Proof:
        self._meant = await self._resolved(self._base)
        if self._meant == self._base:
            return self._proof("in", "same")
        if self._prepare is not None:
            await self._prepare(self._base, self._meant)
        with self._document.record(self._changed, self._closing, each=not self._flight.checked):
            try:
                proof = await self._until_decided()
            except anyio.get_cancelled_exc_class():
                self._look_on()
                raise
            if proof.outcome in {"unknown", "refused"}:
                self._look_on()
                proof = replace(proof, late=self.late, reason=self._reason)
            return proof

    async def put_right(self, strayed: Strayed | None) -> Proof:
        """After an outcome of ``unknown``: undoes the harm that ``late`` told of, and makes the
        edit where it merges; raises NotWanted, the harm undone, where it does not. May end as
        ``unknown`` again. The caller holds the document's lock again. Raises DocumentClosed.
        The texts of one that is in are those ``around`` it now."""
        # What the caller knew when it asked for the edit no longer holds.
        self._resolve = _no_more
        if self._failure is not None:
            self._failure = NotWanted()
        if self.late is not None:
            self.late.stop()
        with self._document.record(self._changed, self._closing, each=not self._flight.checked):
            self._flight.resumed()
            proof = await self._put_right(strayed) if strayed is not None else None
            proof = proof or await self._until_decided()
            if proof.outcome == "unknown":
                self._look_on()
            elif proof.outcome == "in":
                texts = proof.before, proof.meant, self._document.text
                before, meant = await self._away(around, *texts)
                proof = replace(proof, before=before, meant=meant)
            return proof

    async def _until_decided(self) -> Proof:
        while True:
            if not await self._barrier():
                return self._proof("refused")
            await self._compare(self._document.text)
            if (proof := await self._known()) is not None:
                return proof
            if self._document.text != self._base:
                self._behind += 1
                continue
            self._behind = 0
            if self._change is None and not self._still_wanted():
                raise NotWanted
            match await self._send():
                case Landed() as landed:
                    return self._in(landed)
                case Unknown():
                    if self._document.tells is None and self._flight.accepted:
                        self._document.tells = False
                    return self._proof("refused" if self._is_refused() else "unknown")
                case Strayed() as strayed:
                    if (proof := await self._put_right(strayed)) is not None:
                        return proof
                case Again():
                    pass

    # Before a send.

    async def _known(self) -> Proof | None:
        """How it ended, as far as the present text tells; else it is made anew on that."""
        if (landed := self._flight.landed(self._document.text)) is not None:
            return self._in(landed)
        if (strayed := self._flight.strayed) is not None:  # since it was to be sent again
            return await self._put_right(strayed)
        return await self._make_anew()

    async def _barrier(self) -> bool:
        """Lets the client send what it holds back, and waits for the next key of a person who
        is typing: an edit sent right after it is not refused, which in Neovim would print a
        message over what they type. Bounded. False where it takes no edit of any kind."""
        document, timings = self._document, self._timings
        await document.reopened(timings.quiet)
        self._check_open()
        if self._editor.traits.can_sync:
            await self._editor.sync(document.uri)
        if answer := await refusal(document, self._editor, timings.heard):
            self._reason = answer.reason
            return False
        if self._editor.traits.holds_back:
            await self._pause()
            await self._have_told()
        elif document.clock() - document.typed_at < timings.align_within:
            with document.next_change() as changed, anyio.move_on_after(timings.align_wait):
                await self._key(changed)
        self._check_open()
        return True

    async def _pause(self) -> None:
        """What comes between the keys of a client that holds them back goes astray."""
        document, timings = self._document, self._timings
        with anyio.move_on_after(timings.late):
            while (left := document.typed_at + timings.pause - document.clock()) > 0:
                with document.next_change() as changed, anyio.move_on_after(left):
                    await changed.wait()

    async def _have_told(self) -> None:
        """What was typed, by an edit of nothing; if there was anything, all is made anew."""
        if not self._editor.traits.tells_at_edits or self._document.closed:
            return
        uri, version = self._document.uri, self._document.version
        with self._document.next_change() as changed:
            answer = await self._editor.apply(uri, version, NOTHING, self._label)
            # On a busy machine that takes long, as the last edit did.
            time = max(self._timings.told, 2 * self._document.told_within)
            with anyio.move_on_after(time if answer.applied else 0):
                await changed.wait()

    async def _key(self, changed: anyio.Event) -> None:
        if not self._editor.traits.can_sync:
            await changed.wait()
        while not changed.is_set():
            await anyio.sleep(self._timings.align_poll)
            await self._editor.sync(self._document.uri)

    def _check_open(self) -> None:
        if self._document.closed:
            raise DocumentClosed(self._base, self._meant) if self.sends else DocumentClosed

    async def _make_anew(self) -> Proof | None:
        """Makes the edit on the present text, or says how it ended."""
        now, mark = self._document.text, self._flight.mark
        if now == self._base:
            return None
        if not self.sends:
            self._meant = await self._resolved(now)
        elif self._change is None and (how := await self._likely_in(now)) is not None:
            # First: what was typed in an edit that is in could be merged with all of it again.
            return self._proof("in", how)
        elif (meant := await self._away(merged, self._base, self._meant, now)) is not None:
            self._meant = meant
            self._edits = now, meant, await self._away(text_edits, now, meant)
        elif self._change is not None:  # a repair: it is to be made whatever was typed
            self._meant = carried(
                self._base, self._meant, self._flight.typed_since(self._mark, mark)
            )
        else:
            try:
                self._meant = await self._resolved(now)
            except Exception:
                # Where it was not refused, it may be in, and changed beyond recognition since.
                if self._all_refused:
                    raise
                return self._proof("conflict")
        self._base, self._mark = now, mark
        if now != self._meant:
            return None
        if self._change is not None:
            return self._repaired()
        return self._proof("in", "merge" if self.sends else "same")

    async def _likely_in(self, now: Text) -> How | None:
        if self._all_refused:
            return None
        return await self._away(likely_in, self._base, self._meant, now)

    async def _resolved(self, now: Text) -> Text:
        meant = self._resolve(now)
        edits = await self._away(text_edits, now, meant)
        alike = with_line_ends_of(now, meant, edits)
        if self._editor.traits.keeps_last_line_end:
            alike = with_last_line_end_of(now, alike)
        if alike is not meant:
            meant, edits = alike, await self._away(text_edits, now, alike)
        self._edits = now, meant, edits
        return meant

    async def _away(self, compute: Callable[[Unpack[Texts]], Result], *texts: *Texts) -> Result:
        """What is computed from long texts, in a thread; the text may be another one then. Here
        and at once where it was so too often: beside a person who types on it would never end."""
        if not is_long(self._document.lines) or self._behind >= _MAX_BEHIND:
            return compute(*texts)
        return await anyio.to_thread.run_sync(compute, *texts, abandon_on_cancel=True)

    async def _compare(self, text: Text) -> None:
        if is_long(text.lines) and (attempts := self._flight.to_be_compared(text)):
            found = await anyio.to_thread.run_sync(first_in, attempts, text, abandon_on_cancel=True)
            self._flight.compared(text, found)

    def _edits_to_send(self) -> list[TextEdit]:
        base, meant, edits = self._edits
        if base is self._base and meant is self._meant:
            return edits
        return text_edits(self._base, self._meant)

    # A send, and what comes of it.

    async def _send(self) -> Decision:
        document, now = self._document, self._document.clock()
        edits = self._edits_to_send()
        version = max(document.version or 0, self._editor.traits.min_version)
        self.sends += 1
        self._sent_at = now
        self._flight.sent(Attempt(self._base, self._meant, tuple(edits)), now)
        answered = anyio.Event()
        decisions: list[Decision] = []
        try:
            async with anyio.create_task_group() as tasks:
                # It runs as soon as this task waits: nothing comes between the text and the send.
                tasks.start_soon(self._decide, answered, decisions, tasks.cancel_scope)
                answer = await self._editor.apply(document.uri, version, edits, self._label)
                self._all_refused = self._all_refused and answer.applied is False
                self._reason = answer.reason
                self._flight.replied(answer.applied, self._document.clock())
                answered.set()
                self._wake.set()
                if self._editor.traits.can_sync and not document.closed and not decisions:
                    await self._editor.sync(document.uri)
        except ExceptionGroup as failures:
            self._look_on()  # the port failed: the edit may be on its way all the same
            raise failures.exceptions[0] from None
        return decisions[0]

    async def _decide(
        self, answered: anyio.Event, decisions: list[Decision], sending: anyio.CancelScope
    ) -> None:
        while True:
            self._wake = anyio.Event()
            text = self._document.text
            await self._compare(text)
            if (decision := self._decision(text, answered)) is not None:
                break
            with anyio.move_on_after(self._timings.tick):
                await self._wake.wait()
        decisions.append(decision)
        if isinstance(decision, Landed | Strayed):
            self._document.told_within = self._document.clock() - self._sent_at
        if not isinstance(decision, Unknown):
            # One request in flight a document: the answer is usually right behind.
            with anyio.move_on_after(self._timings.quiet):
                await answered.wait()
        sending.cancel()

    def _decision(self, text: Text, answered: anyio.Event) -> Decision | None:
        """An editor that has refused so far, as beside a person who types, is heard out when time
        is over: then it is known."""
        now = self._document.clock()
        decision = self._flight.decide(text, now)
        if isinstance(decision, Unknown) and self._all_refused and self.sends > 1:
            return decision if answered.is_set() else None
        if isinstance(decision, Again) and self._is_refused() and self._flight.is_too_long(now):
            return Unknown()
        if (
            decision is None
            and self._document.closed
            and self._flight.answered
            and now - self._document.closed_at >= self._timings.quiet
        ):
            return Again()  # which finds it closed
        return decision

    def _changed(self, change: ContentChange) -> None:
        if ours := self._flight.changed(change, self._document.clock()):
            self._document.not_typed(ours)
        self._wake.set()

    def _closing(self) -> None:
        self._wake.set()

    # After a send.

    async def _put_right(self, strayed: Strayed) -> Proof | None:
        """The edit went where it was not meant to go: next is sent what undoes the harm and, if
        it still can be made, makes the edit. Returns how it ended if nothing is to be sent."""
        attempt = strayed.attempt
        right = merged(attempt.base, attempt.meant, strayed.before)
        is_in = right == strayed.before  # by a reload; this was the edit coming once more
        if self._change is not None:
            right = right or carried(attempt.base, attempt.meant, strayed.typed)
        elif right is None or not self._still_wanted():
            try:
                before = strayed.before
                right = await self._resolved(before) if self._still_wanted() else _no_more(before)
            except Exception as error:  # noqa: BLE001 - any refusal of the caller's
                right, self._failure = strayed.before, error
        if self._change is None:
            stays = is_in and self._failure is None
            self._change = (attempt.base, attempt.meant) if stays else (strayed.before, right)
        now, since = self._document.text, self._flight.typed_since(strayed.since)
        meant = merged(strayed.after, right, now) or carried(strayed.after, right, since)
        self._flight.repair()
        self._base, self._meant, self._mark = now, meant, self._flight.mark
        return self._repaired() if meant == now else None

    def _in(self, landed: Landed) -> Proof:
        self._base, self._meant = landed.attempt.base, landed.attempt.meant
        return self._proof("in", landed.how) if self._change is None else self._repaired()

    def _is_refused(self) -> bool:
        """Each send was, also the last, and no edit that went astray is still to be put right."""
        return self._all_refused and self._flight.refused and self._change is None

    def _repaired(self) -> Proof:
        if self._failure is not None:
            raise self._failure
        return self._proof("in", "repaired")

    def _proof(self, outcome: Outcome, how: How | None = None) -> Proof:
        before, meant = self._change or (self._base, self._meant)
        return Proof(outcome, before, meant, how, self.sends)

    def _look_on(self) -> None:
        if self.sends:
            # What came of it counts as wanted or not as when the caller left, whatever ends since.
            wanted = self._still_wanted()
            self._still_wanted = lambda: wanted
            self._flight.trust_reload()
            self.late = Late(self._document, self._flight, self._timings, self._change)


def _no_more(_now: Text) -> Text:
    raise NotWanted
