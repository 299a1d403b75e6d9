"""When a document in which an answer grows is left alone: its editor then keeps what was typed."""

import math

from lsp_agent.server.chat.pauses import Pauses

KEEPS_AFTER = 1.0


def pauses_at(
    typed: list[float], seconds: float, keeps_after: float = KEEPS_AFTER
) -> list[tuple[float, float]]:
    """The seconds at which a writer makes a pause, and how long, who else writes four times in
    each of them."""
    pauses, now, found = Pauses(keeps_after), 0.0, list[tuple[float, float]]()
    while now < seconds:
        typed_at = max((at for at in typed if at <= now), default=-math.inf)
        pause = pauses.before_a_write(typed_at, now)
        if pause:
            found.append((now, pause))
            now += pause
        else:
            pauses.written(now)
            now += 0.25
    return found


def test_what_was_typed_has_one_pause_longer_than_the_editor_needs() -> None:
    ((at, pause),) = pauses_at([20.0], 60)
    assert 20.5 <= at <= 21
    assert KEEPS_AFTER < pause <= 3 * KEEPS_AFTER


def test_there_is_none_while_somebody_types_without_one() -> None:
    typed = [10 + 0.2 * number for number in range(100)]
    ((at, _),) = pauses_at(typed, 60)
    assert typed[-1] + 0.5 <= at <= typed[-1] + 1


def test_keys_in_a_pause_have_another_one_and_not_at_once() -> None:
    (first, _), (second, _) = pauses_at([20.0, 21.5], 60)
    assert 5 <= second - first <= 9


def test_an_answer_begins_without_one() -> None:
    ((at, _),) = pauses_at([-0.6], 60)
    assert at >= 5


def test_there_is_none_where_nobody_types() -> None:
    assert not pauses_at([], 60)


def test_there_is_none_for_what_was_typed_long_before_the_answer() -> None:
    assert not pauses_at([-10.0], 60)


def test_there_is_none_in_an_editor_that_needs_none() -> None:
    assert not pauses_at([20.0], 60, keeps_after=0)
