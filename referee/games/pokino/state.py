"""Positions of Pokino and their transitions (docs/rules/pokino.md)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from referee.games.contract import Action, Legal, PlaceKey, State
from referee.games.pokino.actions import (
    Domino,
    PassTurn,
    PokinoCards,
    PokinoRun,
    PokinoTurn,
    PokinoView,
    Run,
    Tiles,
)
from referee.games.pokino.layout import PokinoLayout
from referee.games.pokino.legal import PokinoTurns
from referee.games.pokino.placements import squares
from referee.games.pokino.runs import points, steps_of
from referee.games.shared.cards import Card, Hand, in_order
from referee.games.shared.dealing import Chance
from referee.games.shared.dominoes import NUMBERS, tiles_in_order
from referee.games.shared.fast_values import fast_value

# Points of Pokino (docs/rules/pokino.md, K-7).


BEAD = 5
"""Points of a bead with the variant greed."""


def scores(
    beads: Sequence[int],
    runs: Iterable[PokinoRun],
    layout: PokinoLayout,
    greed: bool,
    territory: bool,
) -> tuple[int, ...]:
    """Return the points of every seat in the present position."""
    if territory:
        return _territory(layout, len(beads))
    totals = [BEAD * held if greed else 0 for held in beads]
    for run in runs:
        totals[run.seat] += points(len(run.cards))
    return tuple(totals)


def _territory(layout: PokinoLayout, seats: int) -> tuple[int, ...]:
    """Return the points of the variant territory.

    A seat scores the pips of each domino on which it has strictly the most tokens.
    """
    points_of = [0] * seats
    for domino, owners in layout.owners().items():
        tokens = [owners.count(seat) for seat in range(seats)]
        most = max(tokens)
        if most and tokens.count(most) == 1:
            points_of[tokens.index(most)] += sum(NUMBERS[domino])
    return tuple(points_of)


@dataclass(frozen=True, slots=True)
class Variants:
    """The variants that are active."""

    greed: bool
    pokino_up: bool
    tear_down_the_walls: bool
    territory: bool


@fast_value
@dataclass(frozen=True, slots=True)
class PokinoState(State):
    """A position, with the options of the game."""

    luck: Chance
    variants: Variants
    turn: int
    """The seat to act; when the game is over, the seat of the last turn."""
    over: bool
    pokino: bool
    """Whether the seat in ``turn`` has played its last card."""
    idle: int
    """Number of consecutive passes without a drawn card."""
    layout: PokinoLayout
    removed: Tiles
    runs: tuple[PokinoRun, ...]
    beads: tuple[int, ...]
    hands: tuple[Hand, ...]
    known: tuple[Hand, ...]
    """Cards of each hand that were drawn from the face-up deck."""
    dominoes: tuple[Tiles, ...]
    deck: Hand
    poke: Tiles
    turns: tuple[PokinoTurn, ...]
    """The public part of all turns."""

    @property
    def actors(self) -> tuple[int, ...]:
        return () if self.over else (self.turn,)

    @property
    def scores(self) -> tuple[int, ...]:
        variants = self.variants
        return scores(self.beads, self.runs, self.layout, variants.greed, variants.territory)

    @property
    def place_keys(self) -> tuple[PlaceKey, ...]:
        """Rank a seat that has called Pokino before all others; then rank by points."""
        return tuple(
            (int(self.pokino and seat == self.turn), score)
            for seat, score in enumerate(self.scores)
        )

    def legal(self, seat: int) -> Legal:
        hand, variants = self.hands[seat], self.variants
        return PokinoTurns(
            hand,
            self.dominoes[seat],
            len(hand) if variants.greed else self.beads[seat],
            self.layout.ground,
            variants.tear_down_the_walls,
            variants.pokino_up,
        )

    def view(self, seat: int) -> PokinoView:
        return self._seen(self.hands[seat], self.dominoes[seat])

    def public(self) -> PokinoView:
        return self._seen((), ())

    def _seen(self, hand: Hand, dominoes: Tiles) -> PokinoView:
        """Build a view from the public information and a seat's cards and dominoes."""
        variants = self.variants
        return PokinoView(
            greed=variants.greed,
            pokino_up=variants.pokino_up,
            tear_down_the_walls=variants.tear_down_the_walls,
            territory=variants.territory,
            turn=self.turn,
            hand=hand,
            dominoes=dominoes,
            beads=self.beads,
            scores=self.scores,
            hand_sizes=tuple(map(len, self.hands)),
            domino_counts=tuple(map(len, self.dominoes)),
            known=tuple(map(PokinoCards, self.known)),
            runs=self.runs,
            layout=self.layout.tiles,
            tokens=self.layout.tokens,
            removed=self.removed,
            deck_top=self.deck[0] if self.deck else "",
            deck_size=len(self.deck),
            poke_size=len(self.poke),
            idle=self.idle,
            over=self.over,
            pokino=self.pokino,
            turns=self.turns,
        )

    def after(self, moves: Mapping[int, Action]) -> "PokinoState":
        ((seat, action),) = moves.items()
        match action:
            case Domino():
                state = self._after_domino(seat, action)
                return state._ended_turn(action.draw, PokinoTurn(seat, action.domino, (), ""))
            case Run(cards=cards):
                state, turn = self._after_run(seat, action), PokinoTurn(seat, "", cards, "")
                if not state.hands[seat]:
                    return state.but(over=True, pokino=True, idle=0, turns=(*self.turns, turn))
                return state._ended_turn(action.draw, turn)
            case PassTurn(draw):
                return self._ended_turn(draw, PokinoTurn(seat, "", (), ""))
        raise AssertionError(f"{action} is not an action of Pokino")

    def _after_domino(self, seat: int, action: Domino) -> "PokinoState":
        """Lay the domino, draw another one, and take a bead."""
        held = [domino for domino in self.dominoes[seat] if domino != action.domino]
        return self.but(
            layout=self.layout.laid(action.domino, *squares(action)),
            dominoes=_with(self.dominoes, seat, tiles_in_order((*held, *self.poke[:1]))),
            poke=self.poke[1:],
            beads=_with(self.beads, seat, self.beads[seat] + 1),
        )

    def _after_run(self, seat: int, run: Run) -> "PokinoState":
        """Pay for the run, place tokens, and remove the crossed dominoes."""
        variants, cards = self.variants, run.cards
        steps = steps_of(run.path, self.layout.ground, variants.tear_down_the_walls)
        assert steps is not None
        layout = self.layout.closed(steps.borders, seat if variants.territory else 0)
        gone = tuple(map(layout.domino_at, steps.middles))
        cost = 0 if variants.greed else len(cards)
        return self.but(
            layout=layout.without(steps.middles) if gone else layout,
            removed=self.removed + gone,
            runs=(*self.runs, PokinoRun(seat, cards)),
            beads=_with(self.beads, seat, self.beads[seat] - cost),
            hands=_with(self.hands, seat, _less(self.hands[seat], cards)),
            known=_with(self.known, seat, _less(self.known[seat], cards)),
        )

    def _ended_turn(self, draw: bool, turn: PokinoTurn) -> "PokinoState":
        """Draw the card; end the game or pass the turn on."""
        seat = turn.seat
        top = self.deck[:1] if draw else ()
        idle = 0 if top or turn.domino or turn.run else self.idle + 1
        over = not self.poke or idle == len(self.hands)
        if top:
            turn = PokinoTurn(seat, turn.domino, turn.run, top[0])
        changes: dict[str, object] = {"idle": idle, "over": over, "turns": (*self.turns, turn)}
        if not over:
            changes["turn"] = (seat + 1) % len(self.hands)
        if top:
            changes["deck"] = self.deck[1:]
            changes["hands"] = _with(self.hands, seat, in_order((*self.hands[seat], *top)))
            changes["known"] = _with(self.known, seat, in_order((*self.known[seat], *top)))
        return self.but(**changes)

    def redeal(self, seat: int | None, luck: Chance) -> "PokinoState":
        """Deal again the others' hidden cards, the deck below its top, and all hidden dominoes."""
        others = [other for other in range(len(self.hands)) if other != seat]
        hidden = {s: _less(self.hands[s], self.known[s]) for s in others}
        unseen = in_order((*self.deck[1:], *(c for s in others for c in hidden[s])))
        cards = luck.shuffled("redeal", 0, unseen)
        unlaid = tiles_in_order((*self.poke, *(d for s in others for d in self.dominoes[s])))
        tiles = luck.shuffled("redeal", 1, unlaid)
        hands, dominoes = list(self.hands), list(self.dominoes)
        for s in others:
            size, number = len(hidden[s]), len(dominoes[s])
            hands[s] = in_order((*self.known[s], *cards[:size]))
            dominoes[s] = tiles_in_order(tiles[:number])
            cards, tiles = cards[size:], tiles[number:]
        return self.but(
            luck=luck,
            hands=tuple(hands),
            dominoes=tuple(dominoes),
            deck=self.deck[:1] + cards,
            poke=tiles,
        )

    def deal_unseen(self, luck: Chance) -> "PokinoState":
        """Shuffle the deck below its top, and the dominoes that nobody has."""
        cards = luck.shuffled("analysis", 0, sorted(self.deck[1:]))
        tiles = luck.shuffled("analysis", 1, sorted(self.poke))
        return self.but(luck=luck, deck=(*self.deck[:1], *cards), poke=tiles)


def _with(by_seat: tuple[object, ...], seat: int, value: object) -> tuple[object, ...]:
    return (*by_seat[:seat], value, *by_seat[seat + 1 :])


def _less(hand: Hand, cards: tuple[Card, ...]) -> Hand:
    return tuple(c for c in hand if c not in cards)
