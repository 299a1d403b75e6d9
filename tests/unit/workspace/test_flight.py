"""The edit rule's decisions, without a loop: what is in, what is sent again, what is unknown."""

from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.text.edits import TextEdit, apply_edits, text_edits
from lsp_agent.text.lines import Text
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import ContentChange
from lsp_agent.workspace.placing.flight import (
    Again,
    Decision,
    Flight,
    Landed,
    Strayed,
    Timings,
    Unknown,
    merged,
)
from lsp_agent.workspace.placing.repair import carried
from lsp_agent.workspace.placing.signs import nearer
from lsp_agent.workspace.placing.strays import Attempt

BASE, MEANT = Text.of("one\ntwo\nthree\n"), Text.of("one\n2\nthree\n")


class Run:
    """A flight that has sent ``BASE`` -> ``MEANT`` at time 0."""

    def __init__(self, *edits: TextEdit, checked: bool = True) -> None:
        self.flight = Flight(checked=checked, encoding="utf-16", timings=Timings())
        self.now = 0.0
        self.text = BASE
        self.flight.sent(Attempt(BASE, MEANT, edits or tuple(text_edits(BASE, MEANT))), 0.0)

    def becomes(
        self, content: str, span: tuple[int, int, int, int] | None = None, told: str = "2"
    ) -> None:
        after = Text.of(content)
        self.flight.changed(ContentChange(self.text, span, told, after), self.now)
        self.text = after

    def answers(self, applied: bool | None) -> None:
        self.flight.replied(applied, self.now)

    def decides(self, after: float = 0.0) -> Decision | None:
        self.now += after
        return self.flight.decide(self.text, self.now)


def test_nothing_is_decided_before_anything_is_known() -> None:
    run = Run()
    assert run.decides(1.0) is None


def test_a_state_that_was_passed_through_proves_it_even_if_undone_since() -> None:
    run = Run()
    run.becomes(MEANT.content)
    run.becomes(BASE.content)
    run.answers(False)
    decision = run.decides()
    assert isinstance(decision, Landed)
    assert decision.how == "state"


def test_a_text_that_holds_it_beside_typing_proves_it() -> None:
    run = Run()
    run.becomes("one\n2\nthree, typed\n")
    decision = run.decides()
    assert isinstance(decision, Landed)
    assert decision.how == "merge"


def test_true_without_any_change_is_no_proof_and_nothing_is_sent_again() -> None:
    run = Run()
    run.answers(True)
    assert run.decides(4.9) is None
    assert run.decides(0.1) == Unknown()


def test_a_change_after_the_answer_without_the_edit_lets_it_be_sent_again() -> None:
    run = Run()
    run.answers(True)
    run.becomes("typed one\ntwo\nthree\n")
    assert run.decides() == Again()


def test_a_change_before_a_true_answer_is_no_reason_until_it_is_quiet() -> None:
    run = Run()
    run.becomes("typed one\ntwo\nthree\n")
    run.answers(True)
    assert run.decides(0.3) is None
    assert run.decides(0.1) == Again()


def test_a_change_before_a_false_answer_explains_it() -> None:
    run = Run()
    run.becomes("typed one\ntwo\nthree\n")
    assert run.decides() is None  # not answered yet
    run.answers(False)
    assert run.decides() == Again()


def test_an_unexplained_refusal_waits_for_its_reason_and_is_repeated_three_times() -> None:
    run = Run()
    for _ in range(3):
        run.answers(False)
        assert run.decides(0.3) is None
        assert run.decides(0.15) == Again()
        run.flight.sent(Attempt(BASE, MEANT, ()), run.now)
    run.answers(False)
    assert run.decides(1.0) is None


def test_no_answer_is_never_a_reason_to_send_again() -> None:
    run = Run()
    run.answers(None)
    run.becomes("typed one\ntwo\nthree\n")
    assert run.decides(1.0) is None
    assert run.decides(4.0) == Unknown()


def test_an_edit_that_went_astray_is_seen_where_versions_are_not_checked() -> None:
    for checked in (True, False):
        run = Run(checked=checked)
        run.becomes("new\none\ntwo\nthree\n")
        run.becomes("new\n2\ntwo\nthree\n", (1, 0, 1, 3))
        decision = run.decides()
        assert isinstance(decision, Strayed) is not checked


def test_it_is_however_the_client_tells_of_it() -> None:
    """In pieces, as one range with more than it, as a whole text."""
    pieces = [("new\n\ntwo\nthree\n", (1, 0, 1, 3)), ("new\n2\ntwo\nthree\n", (1, 0, 1, 0))]
    for told in (
        pieces,
        [("new\n2\ntwo\nthree\n", (0, 0, 3, 0))],
        [("new\n2\ntwo\nthree\n", None)],
    ):
        run = Run(checked=False)
        run.becomes("new\none\ntwo\nthree\n")
        for content, span in told:
            run.becomes(content, span)
        assert isinstance(run.decides(), Strayed), told


def test_an_edit_that_swallowed_what_was_typed_in_its_place_went_astray() -> None:
    run = Run(checked=False)
    run.becomes("one\nxyz\nthree\n")
    run.becomes(MEANT.content, (1, 0, 1, 3))
    assert isinstance(run.decides(), Strayed)


def test_what_was_typed_last_into_the_place_that_it_swallowed_is_known() -> None:
    run = Run(TextEdit(1, 0, 2, 0, "2\n"), checked=False)
    run.becomes("above, one\ntwo\nthree\n")
    run.becomes("above, one\nx two\nthree\n")
    run.becomes("above, one\n2\nthree\n", (1, 0, 2, 0), "2\n")
    decision = run.decides()
    assert isinstance(decision, Strayed)
    assert decision.before.content == "above, one\nx two\nthree\n"


def test_an_edit_that_went_astray_between_two_lines_that_were_typed_is_seen() -> None:
    """As Kakoune tells of all three: as one change."""
    words = " and more than that, too"
    meant, edit = Text.of(f"one\ntwo{words}\nthree\n"), TextEdit(1, 3, 1, 3, words)
    for above in ("new\n", "new\nmore\n"):
        flight = Flight(checked=False, encoding="utf-16", timings=Timings())
        flight.sent(Attempt(BASE, meant, (edit,)), 0.0)
        after = Text.of(f"{above}one{words}\ntwo\nthree\n")
        flight.changed(ContentChange(BASE, None, after.content, after), 0.0)
        flight.replied(True, 0.0)
        decision = flight.decide(after, 0.0)
        assert isinstance(decision, Strayed), above
        assert decision.before.content == f"{above}{BASE.content}"


def test_a_short_word_that_was_typed_elsewhere_is_not_taken_for_an_edit_that_went_astray() -> None:
    meant, edit = Text.of("one\ntwo then\nthree\n"), TextEdit(1, 3, 1, 3, " then")
    flight = Flight(checked=False, encoding="utf-16", timings=Timings())
    flight.sent(Attempt(BASE, meant, (edit,)), 0.0)
    after = Text.of("one\ntwo\nthree then\n")
    flight.changed(ContentChange(BASE, None, after.content, after), 0.0)
    assert not isinstance(flight.decide(after, 0.0), Strayed)


def test_likeness_tells_an_edit_that_is_in_however_much_was_typed() -> None:
    base = Text.of("keep\ndrop this line\nnext line here\n")
    meant = Text.of("keep\nnext line here\n")
    typed = "0123456789 " * 30
    assert nearer(Text.of(f"keep\n{typed}next line here\n"), meant, base)
    assert not nearer(Text.of(f"keep\n{typed}drop this line\nnext line here\n"), meant, base)


_contents = st.lists(
    st.sampled_from(["a\n", "b\r\n", "😀c\n", "d e f\n", "\n", "tail"]), max_size=6
).map("".join)


@given(_contents, _contents, st.data())
def test_a_carried_edit_keeps_every_key_and_is_the_merge_where_that_is_clean(
    base: str, meant: str, data: st.DataObject
) -> None:
    now, splices, keys = base, list[tuple[int, int, str]](), list[str]()
    for number in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(now)))
        keys.append(f"«{number}»")
        splices.append((at, at, keys[-1]))
        now = now[:at] + keys[-1] + now[at:]
    result = carried(Text.of(base), Text.of(meant), splices).content
    for key in keys:
        # One key may have been typed inside another.
        assert all(result.count(letter) >= key.count(letter) for letter in key)
    assert result.count("«") == len(keys) == result.count("»")
    if not keys:
        assert result == meant


@given(_contents, _contents)
def test_an_edit_that_is_in_merges_into_itself(base: str, meant: str) -> None:
    old, new = Text.of(base), Text.of(meant)
    assert apply_edits(old, text_edits(old, new)) == new
    assert merged(old, new, new) == new


def test_a_mirror_feeds_the_flight_with_what_the_client_sent() -> None:
    documents = Documents("utf-16")
    documents.open("untitled:1", 1, BASE.content)
    document = documents.get("untitled:1")
    assert document is not None
    run = Run()
    with document.record(lambda change: run.flight.changed(change, 0.1) and None):
        span = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}
        documents.change("untitled:1", 2, [{"range": span, "text": "2"}])
    assert isinstance(run.flight.decide(document.text, 0.1), Landed)
