"""Checks of secrecy: no question depends on hidden information, and re-dealing deals all of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from referee.game_checks.random_games import Step, Viewer, dice, go_on, question, seen, walk
from referee.game_checks.rule_checks import some_steps, viewers
from referee.game_checks.tables import Table
from referee.games.contract import State
from referee.games.shared.dealing import Seeded

_WALKS = 8
_STARTS = 30
"""First positions that are compared to find out what is hidden."""
_REDEALS = 12
"""Re-deals of a first position, one of which must change what is hidden."""


@dataclass(frozen=True)
class _Redeal:
    """A position, and the same position dealt again for a viewer."""

    number: int
    step: Step
    viewer: Viewer
    dealt: State

    @property
    def who(self) -> str:
        return _name(self.viewer)


def _redeals(table: Table, walks: int = _WALKS) -> Iterator[_Redeal]:
    for number, step in enumerate(some_steps(table, walks, 12)):
        for viewer in viewers(table):
            luck = Seeded(dice("redeal", table, number, viewer).randbytes(32))
            yield _Redeal(number, step, viewer, step.state.redeal(viewer, luck))


def secrecy(table: Table) -> Iterator[str]:
    """The question of a viewer is the same when all that is hidden from it is dealt again."""
    codec = table.codec
    for case in _redeals(table):
        before, dealt = case.step.state, case.dealt
        if question(codec, before, case.viewer) != question(codec, dealt, case.viewer):
            yield f"the question of {case.who} changes with information hidden from it"
        elif codec.view(before.public()) != codec.view(dealt.public()):
            yield f"public information changes when {case.who} deals again what is hidden from it"
        elif before.actors != dealt.actors:
            yield f"the acting seats change with information hidden from {case.who}"


def redealt_games(table: Table) -> Iterator[str]:
    """A game can continue from every position that was dealt again."""
    for case in _redeals(table, 2):
        *_, last = go_on(case.dealt, dice("end", table, case.number))
        if len(last.state.scores) != table.seats:
            yield f"a game dealt again for {case.who} ends without scores"


def redeal_is_complete(table: Table) -> Iterator[str]:
    """A re-deal changes what other seats hold, and what nobody can see."""
    starts = [walk(table, number)[0].state for number in range(_STARTS)]
    for seat in range(table.seats):
        for other in range(table.seats):
            for name in _private_fields(starts, seat, other):
                if not _is_changed(table, starts[0], seat, other, name):
                    yield (
                        f"redeal for seat {seat} never changes {name} of seat {other}, which is "
                        "dealt and hidden from it"
                    )
    yield from _unseen(table, starts)


def _private_fields(starts: Sequence[State], seat: int, other: int) -> Iterator[str]:
    """Yield the fields of another seat's first view that are dealt and hidden from a seat."""
    if seat == other:
        return
    views = [(start.view(other), start.view(seat), start.public()) for start in starts]
    for field in fields(views[0][0]):
        values = [tuple(getattr(view, field.name) for view in each) for each in views]
        is_dealt = len({repr(theirs) for theirs, _, _ in values}) > len(starts) // 2
        if is_dealt and all(theirs not in rest for theirs, *rest in values):
            yield field.name


def _is_changed(table: Table, start: State, seat: int, other: int, name: str) -> bool:
    before = getattr(start.view(other), name)
    return any(
        getattr(start.redeal(seat, _luck(table, seat, number)).view(other), name) != before
        for number in range(_REDEALS)
    )


def _luck(table: Table, viewer: Viewer, number: int) -> Seeded:
    return Seeded(dice("complete", table, viewer, number).randbytes(32))


def _unseen(table: Table, starts: Sequence[State]) -> Iterator[str]:
    """Compare first positions that a viewer cannot distinguish."""
    for viewer in viewers(table):
        by_question: dict[bytes, list[State]] = {}
        for start in starts:
            by_question.setdefault(question(table.codec, start, viewer), []).append(start)
        for alike in by_question.values():
            if len(set(map(_content, alike))) < 2:
                continue
            dealt = [alike[0].redeal(viewer, _luck(table, viewer, n)) for n in range(_REDEALS)]
            if {_content(each) for each in dealt} == {_content(alike[0])}:
                who = _name(viewer)
                yield f"redeal for {who} changes nothing, and games differ that look alike to it"
            break


def _content(state: Any) -> str:
    """Return the fields of a position without its chance source, which decides future events."""
    return repr([getattr(state, each.name) for each in fields(state) if each.name != "luck"])


def from_view(table: Table) -> Iterator[str]:
    """A position is made from a view alone, and equals the position that redeal returns."""
    for number, step in enumerate(some_steps(table, 4, 12)):
        for viewer in viewers(table):
            luck = Seeded(dice("from view", table, number, viewer).randbytes(32))
            view, who = seen(step.state, viewer), _name(viewer)
            made = table.game.from_view(view, viewer, table.options, luck)
            if seen(made, viewer) != view:
                yield f"the view of the position that from_view makes of it differs for {who}"
            elif made != step.state.redeal(viewer, luck):
                yield f"from_view and redeal with the same luck differ for {who}"


def _name(viewer: Viewer) -> str:
    return "a spectator" if viewer is None else f"seat {viewer}"
