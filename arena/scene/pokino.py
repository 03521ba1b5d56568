"""The scene of Pokino: the layout of dominoes with its tokens, hands, dominoes, beads, runs."""

from collections.abc import Mapping

from arena.scene.grid import board
from arena.scene.scene import (
    FRESH,
    KNOWN,
    Badge,
    Cards,
    Face,
    Lines,
    Row,
    Scene,
    Secret,
    Table,
    Tiles,
    shown,
)
from referee.cards import Card, in_order
from referee.games.pokino.words import PokinoView

_VARIANTS = {
    "greed": "greed",
    "pokino_up": "pokino up",
    "tear_down_the_walls": "tear down the walls",
    "territory": "territory",
}


def pokino(public: PokinoView, hands: Mapping[int, PokinoView], table: Table) -> Scene:
    """The scene of a position; the whole game is one chapter."""
    removed = (Row("removed", "removed", Tiles(public.removed)),) if public.removed else ()
    top = shown((Card(public.deck_top),)) if public.deck_top else Cards()
    return Scene(
        chapter=0,
        heading=_heading(public, table),
        facts=(
            *(said for name, said in _VARIANTS.items() if getattr(public, name)),
            f"{public.deck_size} cards in the deck",
            f"{public.poke_size} dominoes in the poke",
        ),
        seats=tuple(
            table.seat(seat, _badges(public, seat), _areas(public, hands, seat))
            for seat in range(len(table.names))
        ),
        centre=(board(public), Row("deck", "top of the deck", top), *removed),
    )


def _heading(public: PokinoView, table: Table) -> str:
    turn = f"Turn {len(public.turns) + (not public.over)}"
    if public.pokino:
        return f"{turn} · {table.names[public.turn]} calls Pokino!"
    if public.over:
        return f"{turn} · {'everybody passed' if public.poke_size else 'the poke is empty'}"
    return f"{turn} · {table.names[public.turn]} to act"


def _badges(public: PokinoView, seat: int) -> list[Badge]:
    beads = public.beads[seat]
    badges = [Badge(f"{beads} bead{'' if beads == 1 else 's'}", "plain")]
    last = public.turns[-1] if public.turns else None
    if public.pokino and seat == public.turn:
        badges.append(Badge("Pokino!", "good"))
    elif last and last.seat == seat and not (last.domino or last.run):
        badges.append(Badge("passed", "plain"))
    return badges


def _areas(public: PokinoView, hands: Mapping[int, PokinoView], seat: int) -> list[Secret | Lines]:
    known, size = public.known[seat].cards, public.hand_sizes[seat]
    last = public.turns[-1] if public.turns else None
    drawn = last.drawn if last and last.seat == seat else ""
    own = hands.get(seat)
    cards = tiles = None
    if own is not None:
        cards = Cards(_marked(own.hand, known, drawn))
        tiles = Tiles(own.dominoes)
    closed = Cards(_marked(in_order(known), known, drawn), size - len(known))
    return [
        Secret("hand", "hand", seat, cards, closed),
        Secret("dominoes", "dominoes", seat, tiles, Tiles((), public.domino_counts[seat])),
        _runs(public, seat),
    ]


def _marked(hand: tuple[Card, ...], known: tuple[Card, ...], drawn: str) -> tuple[Face, ...]:
    """A hand: what was drawn in public is marked, and the last of it."""
    return tuple(
        Face(card, (KNOWN,) * (card in known) + (FRESH,) * (card == drawn)) for card in hand
    )


def _runs(public: PokinoView, seat: int) -> Lines:
    """The runs that lie before a seat, the last one first."""
    mine = [run.cards for run in public.runs if run.seat == seat]
    fresh = bool(public.turns) and public.turns[-1].seat == seat and bool(public.turns[-1].run)
    rows = [
        ("", shown(cards, *((FRESH,) * (fresh and number == len(mine)))))
        for number, cards in enumerate(mine, 1)
    ]
    return Lines("runs", "runs", tuple(reversed(rows)))
