"""Pokino's layout as pieces on a grid."""

from collections.abc import Iterator

from arena.scene.scene import Board, Piece
from referee.dominoes import NUMBERS
from referee.games.pokino.layout import Layout
from referee.games.pokino.words import PokinoView

_NONE = -1


def board(public: PokinoView) -> Board:
    """What lies on the table; what the last turn laid is marked."""
    pieces = (*_dominoes(public), *_tokens(public), *_fresh(public))
    return Board("board", "layout", pieces, _bounds(public), _words(public))


def _dominoes(public: PokinoView) -> Iterator[Piece]:
    """The dominoes; with territory those that a seat would gain bear its colour."""
    gained = _gained(public)
    for tile in public.layout:
        low, high = NUMBERS[tile.domino]
        owner = gained.get(tile.domino, _NONE)
        yield Piece("domino", tile.x, tile.y, tile.second_x, tile.second_y, f"{low}-{high}", owner)


def _gained(public: PokinoView) -> dict[str, int]:
    """Whose a domino would be if the game ended now."""
    if not public.territory:
        return {}
    gained = {}
    for domino, owners in Layout(public.layout, public.tokens).owners().items():
        counts = [owners.count(seat) for seat in range(len(public.beads))]
        most = max(counts)
        if most and counts.count(most) == 1:
            gained[str(domino)] = counts.index(most)
    return gained


def _tokens(public: PokinoView) -> Iterator[Piece]:
    for token in public.tokens:
        owner = token.owner if public.territory else _NONE
        yield Piece("token", token.x, token.y, token.second_x, token.second_y, "", owner)


def _fresh(public: PokinoView) -> Iterator[Piece]:
    """What the last turn laid. A run that tore walls down leaves no telling how many tokens."""
    if not public.turns:
        return
    last = public.turns[-1]
    if last.domino:
        tile = public.layout[-1]
        yield Piece("fresh", tile.x, tile.y, tile.second_x, tile.second_y, "", last.seat)
    elif last.run and not public.tear_down_the_walls:
        for token in public.tokens[1 - len(last.run) :]:
            yield Piece(
                "fresh-token", token.x, token.y, token.second_x, token.second_y, "", last.seat
            )


def _bounds(public: PokinoView) -> tuple[int, int, int, int]:
    if not public.layout:
        return 0, 0, 0, 0
    columns = [x for tile in public.layout for x in (tile.x, tile.second_x)]
    rows = [y for tile in public.layout for y in (tile.y, tile.second_y)]
    return min(columns), max(columns), min(rows), max(rows)


def _words(public: PokinoView) -> str:
    """How much lies there, in words."""
    if not public.layout:
        return "Nothing lies on the table."
    tokens = len(public.tokens)
    return f"{len(public.layout)} dominoes, {tokens} token{'' if tokens == 1 else 's'}"
