"""What of the disk's changes an open document has not got, since it waits in a proposal."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, TypeVarTuple, Unpack
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread

from lsp_agent.text.edits import apply_edits, text_edits
from lsp_agent.text.lines import Text, is_long
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.placing.flight import merged

Texts = TypeVarTuple("Texts")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Withheld:
    """``without`` it and ``with_it`` are texts of the file."""

    proposal_id: str
    without: Text
    with_it: Text


class WithheldChanges:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._of: WeakKeyDictionary[OpenDocument, list[_Withheld]] = WeakKeyDictionary()

    def add(self, document: OpenDocument, proposal_id: str, without: Text, with_it: Text) -> None:
        """Until that proposal is decided."""
        self._of.setdefault(document, []).append(_Withheld(proposal_id, without, with_it))

    async def in_common(self, document: OpenDocument, now: Text) -> Text | None:
        """What the document and a file that is ``now`` have both come from: ``saved``, but without
        what the document has not got where ``now`` changes it again or takes it back."""
        saved = document.saved
        waiting = self._of[document] = [w for w in self._of.get(document, []) if self._waits(w)]
        if saved is None:
            return None
        base = saved
        for each in waiting:
            for part in await away(_parts, each.with_it, each.without):
                alone = await away(merged, each.with_it, part, saved)
                without = await away(merged, each.with_it, part, base)
                if alone is None or without is None or alone == saved:
                    continue
                with_both = await away(merged, saved, now, alone)
                if with_both is None or with_both == now:
                    base = without
        return base

    def _waits(self, withheld: _Withheld) -> bool:
        proposal = self._ledger.get(withheld.proposal_id)
        return proposal is not None and proposal.status == "proposed"


def _parts(with_it: Text, without: Text) -> list[Text]:
    """Without each of its hunks alone: the file may have one of them back."""
    return [apply_edits(with_it, [edit]) for edit in text_edits(with_it, without)]


async def away(compute: Callable[[Unpack[Texts]], Result], *texts: *Texts) -> Result:
    """What is computed from long texts, in a thread."""
    if not any(isinstance(text, Text) and is_long(text.lines) for text in texts):
        return compute(*texts)
    return await anyio.to_thread.run_sync(compute, *texts, abandon_on_cancel=True)
