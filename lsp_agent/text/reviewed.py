"""Two texts that are alike outside the hunks between them, and what each hunk is.

Pure. Lines are 0-based, ranges half-open.
"""

from dataclasses import dataclass

from lsp_agent.text.lines import Text
from lsp_agent.text.merge import merge3_beside, merge3_fine
from lsp_agent.text.review_hunks import ReviewHunk
from lsp_agent.text.traces import Lines, Trace


@dataclass(frozen=True, slots=True)
class Reviewed:
    base: Text
    text: Text
    hunks: tuple[ReviewHunk, ...] = ()
    traces: tuple[Trace, ...] = ()

    def lines_of(self, hunk: ReviewHunk) -> Lines:
        return self.text.lines[hunk.start : hunk.end]

    def base_lines_of(self, hunk: ReviewHunk) -> Lines:
        return self.base.lines[hunk.base_start : hunk.base_end]

    def old_lines_of(self, hunk: ReviewHunk) -> Lines:
        """What a person is shown as taken out: no word of theirs goes unseen."""
        return (*self.base_lines_of(hunk), *hunk.replaced)

    def without_hunk(self, hunk: ReviewHunk, *, beside: bool = False) -> Lines | None:
        """What is left of its lines once it is undone; None where that cannot be told. With
        ``beside`` it can, where a person typed right before or behind what is undone."""
        base = self.base_lines_of(hunk)
        if hunk.left is None:
            return base
        if hunk.mixed:
            return None
        merge3 = merge3_beside if beside else merge3_fine
        merge = merge3(Text(hunk.left), Text(self.lines_of(hunk)), Text(base))
        return merge.text.lines if merge.clean else None
