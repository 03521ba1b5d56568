"""Re-deal the hidden information of a viewer, and detect leaks of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from referee.game_checks.random_games import (
    Step,
    Viewer,
    dice,
    go_on,
    question,
    seen,
    texts_in,
    walk,
)
from referee.game_checks.tables import Table
from referee.games.contract import State
from referee.games.shared.coded_errors import InvalidValue
from referee.games.shared.dealing import Chance, Seeded
from tests.conformance.oracles import oracle_of

Dealer = Callable[[State, Any, Chance], State]
"""Re-deals a position for a seat, or for a spectator (None)."""
Check = Callable[["RedealCase"], str | None]
"""Return the error of a case, if any."""

POSITIONS_A_WALK = 12


@dataclass(frozen=True)
class RedealCase:
    """A position, and the same position with its hidden information dealt again."""

    table: Table
    played: Sequence[Step]
    """The game up to the position, which is the last element."""
    seat: Viewer
    """The viewer: a seat, or None for a spectator."""
    dealt: State
    """The re-dealt position."""

    @property
    def state(self) -> State:
        return self.played[-1].state

    def __str__(self) -> str:
        who = "a spectator" if self.seat is None else f"seat {self.seat}"
        return f"{self.table}, {who}, position {len(self.played) - 1}"


def by_the_game(state: State, seat: Viewer, luck: Chance) -> State:
    return state.redeal(seat, luck)


def cases(
    table: Table,
    number: int,
    deal: Dealer = by_the_game,
    viewers: Sequence[Viewer] = (),
    first: int = 0,
) -> Iterator[RedealCase]:
    """Yield cases of a table at positions of random games, for each viewer in turn.

    Args:
        table: the table.
        number: the least number of cases.
        deal: re-deals a position.
        viewers: the viewers; all seats if empty.
        first: the number of the first random game.
    """
    made = 0
    game = first
    while made < number:
        rng = dice("cases", table, game)
        steps = walk(table, game)
        game += 1
        for at in sorted(rng.sample(range(len(steps)), min(POSITIONS_A_WALK, len(steps)))):
            for seat in viewers or range(table.seats):
                dealt = deal(steps[at].state, seat, Seeded(rng.randbytes(32)))
                yield RedealCase(table, steps[: at + 1], seat, dealt)
                made += 1


def leak(case: RedealCase) -> str | None:
    """Return an error if the viewer's question depends on hidden information."""
    codec = case.table.codec
    sent, as_well = (question(codec, s, case.seat) for s in (case.state, case.dealt))
    if sent != as_well:
        return f"{case}: the question is another when hidden cards are"
    return None


def false_dealing(case: RedealCase) -> str | None:
    """Return an error if the re-dealt position cannot occur.

    The oracle constructs a game that leads to the position. Every action of that game must be
    legal, and the seat must have the same views and actions in both games.
    """
    oracle = oracle_of(case.table)
    if sorted(oracle.cards(case.dealt)) != sorted(oracle.cards(case.state)):
        return f"{case}: the cards are others"
    try:
        story = oracle.story(case.played, case.dealt, case.seat)
        state = case.table.start(story.luck)
        for step, moves in zip(case.played, story.turns, strict=False):
            if seen(state, case.seat) != seen(step.state, case.seat):
                return f"{case}: it has not seen what it saw"
            if any(moves[s] != step.moves[s] for s in moves if s == case.seat):
                return f"{case}: it has not done what it did"
            state = state.play(moves)
    except InvalidValue as error:
        return f"{case}: {error}"
    if plain(state) != plain(case.dealt):
        return f"{case}: its history leads elsewhere"
    return None


def false_end(case: RedealCase) -> str | None:
    """Return an error if the game cannot continue from the re-dealt position.

    The seat's action must stay legal. If the action reveals no hidden card, the views after it must
    be equal. A random game from the position must keep all cards.
    """
    moves = case.played[-1].moves
    if not moves:
        return None
    if any(moves[s] not in case.dealt.legal(s) for s in moves if s == case.seat):
        return f"{case}: it may not do what it did"
    legal = all(move in case.dealt.legal(seat) for seat, move in moves.items())
    if len(moves) == 1 and legal:
        views = [seen(s.play(moves), case.seat) for s in (case.state, case.dealt)]
        hidden = oracle_of(case.table).hidden
        unknown = [texts_in(tuple(hidden(s, case.seat).values())) for s in (case.state, case.dealt)]
        fresh = [texts_in(view) & cards for view, cards in zip(views, unknown, strict=True)]
        if not any(fresh) and views[0] != views[1]:
            return f"{case}: it sees something else after {moves}"
    everything = sorted(oracle_of(case.table).cards(case.dealt))
    for step in go_on(case.dealt, dice("end", case)):
        if sorted(oracle_of(case.table).cards(step.state)) != everything:
            return f"{case}: cards come or go when it is played on"
    return None


def plain(state: Any) -> dict[str, object]:
    """Return the fields of a position except its chance source, which decides future events."""
    return {
        field.name: getattr(state, field.name) for field in fields(state) if field.name != "luck"
    }


def first_problem(
    table: Table,
    number: int,
    check: Check,
    deal: Dealer = by_the_game,
    viewers: Sequence[Viewer] = (),
    first: int = 0,
) -> str | None:
    return next(filter(None, map(check, cases(table, number, deal, viewers, first))), None)


def changed(
    table: Table, number: int, deal: Dealer = by_the_game, viewers: Sequence[Viewer] = ()
) -> dict[str, float]:
    """Return how often a re-deal changed each part of the hidden information, from 0 to 1."""
    oracle = oracle_of(table)
    tally: dict[str, list[bool]] = {}
    for case in cases(table, number, deal, viewers):
        now = oracle.hidden(case.state, case.seat)
        then = oracle.hidden(case.dealt, case.seat)
        for name in now:
            if now[name]:
                tally.setdefault(name, []).append(now[name] != then[name])
    return {name: sum(changes) / len(changes) for name, changes in tally.items()}
