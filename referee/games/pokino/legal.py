"""Legal actions of Pokino (docs/rules/pokino.md, K-3)."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from random import Random

from referee.games.contract import Action, ActionArguments, LazyActions
from referee.games.pokino.actions import Domino, PassTurn, PokinoSquare, Run, Tiles
from referee.games.pokino.layout import SQUARES, Ground, around, square
from referee.games.pokino.placements import count, may_lay, placement, placements
from referee.games.pokino.runs import Found, RunSearch, listed, may_run, most_listed
from referee.games.shared.cards import Hand
from referee.games.shared.random_index import random_index

OPTIONAL_DRAW_CARDS = 7
"""Number of cards from which the draw is optional, if the variant allows it."""
ALWAYS = (True,)
CHOICE = (True, False)


class PokinoTurns(LazyActions):
    """Pass, lay a domino or play a run, listed in this order."""

    def __init__(
        self, hand: Hand, tiles: Tiles, max_cards: int, ground: Ground, walls: bool, choice: bool
    ) -> None:
        """Collect the inputs of the rules.

        Args:
            hand: the seat's cards.
            tiles: the seat's dominoes.
            max_cards: maximum number of cards that it can pay for.
            ground: the squares, borders and places of the table.
            walls: whether a run may cross the middles of dominoes.
            choice: whether the draw is optional.
        """
        self._hand = hand
        self.tiles = tiles
        self._max_cards = max_cards
        self.ground = ground
        self._walls = walls
        self._choice = choice

    def __contains__(self, action: object) -> bool:
        match action:
            case PassTurn(draw):
                return draw in self.draws(0)
            case Domino(draw=draw):
                return draw in self.draws(0) and may_lay(action, self.tiles, self.ground)
            case Run(cards=cards, draw=draw):
                return draw in self.draws(len(cards)) and may_run(
                    action, self._hand, self._max_cards, self.ground, self._walls
                )
        return False

    def draws(self, played: int) -> tuple[bool, ...]:
        """Return the allowed values of ``draw`` after a number of cards is played."""
        return (
            CHOICE if self._choice and len(self._hand) - played >= OPTIONAL_DRAW_CARDS else ALWAYS
        )

    @cached_property
    def _search(self) -> RunSearch:
        return RunSearch(self._hand, self._max_cards, self.ground, self._walls)

    @property
    def complete(self) -> bool:
        """Return whether all actions are listed.

        The list is not complete if there are too many runs, or if the table is empty and the seat
        has dominoes.
        """
        return self._search.complete and bool(self.ground.numbers or not self.tiles)

    def by_constructor(self) -> ActionArguments:
        draws = self.draws(0)
        yield PassTurn, draws
        for draw in draws:
            yield from placements(self.tiles, self.ground, draw)
        yield listed, self._runs()

    @property
    def found_runs(self) -> Sequence[Found]:
        """Return the listed runs, without the choice of the draw."""
        return self._search.runs

    def _runs(self) -> Iterator[tuple[Found, bool]]:
        for run in self._search.runs:
            for draw in self.draws(len(run[0])):
                yield run, draw

    def _run_count(self) -> int:
        """Return the number of listed runs, with the choices of the draw."""
        runs = self._search.runs
        return sum(len(self.draws(len(run[0]))) for run in runs) if self._choice else len(runs)

    def runs_along(self, path: tuple[PokinoSquare, ...]) -> Iterator[Run]:
        """Yield a run for each legal path that is this one, or longer by one square."""
        if not path:
            for number in self.ground.numbers:
                yield from self.runs_along((SQUARES[number],))
            return
        beside = around(square(path[-1].x, path[-1].y))
        for way in (path, *((*path, SQUARES[number]) for number, _ in beside)):
            run = Run(way, self._search.cards_along(way))
            if run in self:
                yield run

    def any(self, chance: Random) -> Action:
        """Return a random listed action; search for runs only if the choice depends on them."""
        draws = self.draws(0)
        laying = count(self.tiles, self.ground)
        others = len(draws) * (1 + laying)
        most = others + len(draws) * most_listed(min(self._max_cards, len(self._hand)))
        number = random_index(chance, others, most, lambda: others + self._run_count())
        if number < len(draws):
            return PassTurn(draws[number])
        if number < others:
            way, number = divmod(number - len(draws), laying)
            return placement(self.tiles, self.ground, draws[way], number)
        return listed(next(islice(self._runs(), number - others, None)))
