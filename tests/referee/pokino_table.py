"""Set up tables of Pokino, so that tests read like the rules pages."""

from collections.abc import Iterator
from typing import Any

from referee.games.contract import Action
from referee.games.pokino import Pokino
from referee.games.pokino.actions import Domino, PassTurn, PokinoSquare, Run
from referee.games.pokino.layout import PokinoLayout, square
from referee.games.shared.cards import Card, cards, deck_of
from referee.games.shared.dealing import Arranged
from referee.games.shared.dominoes import NUMBERS, Tile, dominoes, pile_of

SPOKE = "0-6 4-5 1-7 8-12"
"""With the inner squares 6 4 1 12, clockwise from (0, 0): the example of the rules page."""
INSIDE = (1, 0, 0, 1)
"""Which half of each domino is inside; 1 is the larger."""


def started(
    *hands: str,
    spoke: str = SPOKE,
    inside: tuple[int, ...] = INSIDE,
    held: str = "",
    poke: str = "",
    deck: str = "",
    first: int = 0,
    **options: bool,
) -> Any:
    """Return a game with these cards.

    ``held`` are the dominoes of all hands, ``poke`` those drawn next.
    """
    size = 7 if options.get("pokino_up") else 5
    dealt = [cards(hand) for hand in hands]
    assert all(len(hand) == size for hand in dealt)
    named = dominoes(f"{spoke} {held} {poke}")
    spare = [d for d in pile_of() if d not in named]
    given = [*dominoes(held), *spare][: 3 * len(hands)]
    luck = Arranged(
        numbers={("first", 0): first, **{("spoke", n): half for n, half in enumerate(inside)}},
        orders={
            ("deck", 0): deck_of(*dealt, cards(deck)),
            ("dominoes", 0): pile_of(given, dominoes(spoke), dominoes(poke)),
        },
    )
    return Pokino().start(luck, len(hands), options)


def with_table(state: Any, *laid: str) -> Any:
    """Return the position with other dominoes on the table: ``"3-12 at 0,0 right"``."""
    layout = PokinoLayout()
    for tile in laid:
        domino, _, at, direction = tile.split()
        first, second = ends(at, direction)
        layout = layout.laid(Tile(domino), square(*first), square(*second))
    return state.but(layout=layout)


def ends(at: str, direction: str) -> tuple[tuple[int, int], tuple[int, int]]:
    x, y = map(int, at.split(","))
    right, down = {"right": (1, 0), "down": (0, 1), "left": (-1, 0), "up": (0, -1)}[direction]
    return (x, y), (x + right, y + down)


def action(text: str) -> Action:
    """Parse an action: ``"pass"``, ``"lay 3-12 at 0,0 right"``, ``"run 6S 4D along 0,0 1,0"``.

    ``"no draw"`` at the end means that the seat does not draw.
    """
    words_of_action, no_draw, _ = text.partition(" no draw")
    word, *rest = words_of_action.split()
    draw = not no_draw
    match word:
        case "pass":
            return PassTurn(draw)
        case "lay":
            domino, _, at, direction = rest
            x, y = map(int, at.split(","))
            return Domino(Tile(domino), x, y, direction, draw)
        case "run":
            middle = rest.index("along")
            path = tuple(PokinoSquare(*map(int, at.split(","))) for at in rest[middle + 1 :])
            return Run(path, tuple(map(Card, rest[:middle])), draw)
    raise AssertionError(f"unknown action {text}")


def play(state: Any, *turns: str) -> Any:
    """Return the position after the seats have acted in turn."""
    for turn in turns:
        state = state.play({state.turn: action(turn)})
    return state


def is_legal(state: Any, text: str) -> bool:
    return action(text) in state.legal(state.turn)


def listed(state: Any, kind: type | None = None) -> list[Any]:
    """Return the listed actions, optionally those of one kind."""
    return [a for a in state.legal(state.turn) if kind is None or isinstance(a, kind)]


def rich(state: Any, beads: int = 20) -> Any:
    return state.but(beads=(beads,) * len(state.beads))


def numbers(state: Any) -> dict[tuple[int, int], int]:
    return dict(_numbers(state))


def _numbers(state: Any) -> Iterator[tuple[tuple[int, int], int]]:
    for tile in state.layout.tiles:
        low, high = NUMBERS[tile.domino]
        yield (tile.x, tile.y), low
        yield (tile.second_x, tile.second_y), high
