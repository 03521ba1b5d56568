"""Present Pokino: the layout of dominoes with its tokens, hands, beads and runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from referee.games.contract import Action, Legal
from referee.games.pokino.actions import (
    Domino,
    PassTurn,
    PokinoSquare,
    PokinoTurn,
    PokinoView,
    Run,
)
from referee.games.pokino.layout import PokinoLayout, coordinates
from referee.games.pokino.legal import PokinoTurns
from referee.games.pokino.placements import squares
from referee.games.shared.cards import RANK, Card, in_order
from referee.games.shared.dominoes import NUMBERS, Tile
from referee.presentation.contract import Presentation
from referee.presentation.elements import (
    FRESH,
    Badge,
    CardGroup,
    CardLines,
    DominoGroup,
    DominoLayout,
    GridPiece,
    OpenCards,
    Players,
    PrivateCards,
    PublicAction,
    TableRendering,
    face_up,
    known_faces,
)
from referee.presentation.selection import Pick, Selection

_NONE = -1
_VARIANTS = {
    "greed": "greed",
    "pokino_up": "pokino up",
    "tear_down_the_walls": "tear down the walls",
    "territory": "territory",
}
_RULES = {
    "greed": "K-8",
    "pokino_up": "K-9",
    "tear_down_the_walls": "K-10",
    "territory": "K-11",
}
_NO_DRAW = "no draw"
_SQUARE = re.compile(r"(-?\d{1,4}),(-?\d{1,4})")


def board(public: PokinoView) -> DominoLayout:
    """Return the layout; elements laid in the last turn are marked."""
    pieces = (*_dominoes(public), *_tokens(public), *_fresh(public))
    return DominoLayout("board", "layout", pieces, _bounds(public), _words(public))


def _dominoes(public: PokinoView) -> Iterator[GridPiece]:
    """Yield the dominoes; with territory, each has the colour of the seat that would gain it."""
    gained = _gained(public)
    for tile in public.layout:
        low, high = NUMBERS[tile.domino]
        owner = gained.get(tile.domino, _NONE)
        yield GridPiece(
            "domino", tile.x, tile.y, tile.second_x, tile.second_y, f"{low}-{high}", owner
        )


def _gained(public: PokinoView) -> dict[str, int]:
    """Return the seat that would own each domino if the game ended now."""
    if not public.territory:
        return {}
    gained = {}
    for domino, owners in PokinoLayout(public.layout, public.tokens).owners().items():
        counts = [owners.count(seat) for seat in range(len(public.beads))]
        most = max(counts)
        if most and counts.count(most) == 1:
            gained[str(domino)] = counts.index(most)
    return gained


def _tokens(public: PokinoView) -> Iterator[GridPiece]:
    for token in public.tokens:
        owner = token.owner if public.territory else _NONE
        yield GridPiece("token", token.x, token.y, token.second_x, token.second_y, "", owner)


def _fresh(public: PokinoView) -> Iterator[GridPiece]:
    """Yield marks for the last turn's elements.

    They omit the tokens of a run with the option to tear down walls, because their number is
    unknown.
    """
    if not public.turns:
        return
    last = public.turns[-1]
    if last.domino:
        tile = public.layout[-1]
        yield GridPiece("fresh", tile.x, tile.y, tile.second_x, tile.second_y, "", last.seat)
    elif last.run and not public.tear_down_the_walls:
        for token in public.tokens[1 - len(last.run) :]:
            for what in ("run", "fresh-token"):
                yield GridPiece(
                    what, token.x, token.y, token.second_x, token.second_y, "", last.seat
                )


def _bounds(public: PokinoView) -> tuple[int, int, int, int]:
    if not public.layout:
        return 0, 0, 0, 0
    columns = [x for tile in public.layout for x in (tile.x, tile.second_x)]
    rows = [y for tile in public.layout for y in (tile.y, tile.second_y)]
    return min(columns), max(columns), min(rows), max(rows)


def _words(public: PokinoView) -> str:
    """Return the number of dominoes and tokens as text."""
    if not public.layout:
        return "Nothing lies on the players."
    tokens = len(public.tokens)
    return f"{len(public.layout)} dominoes, {tokens} token{'' if tokens == 1 else 's'}"


def _heading(public: PokinoView, players: Players) -> str:
    turn = f"Turn {len(public.turns) + (not public.over)}"
    if public.pokino:
        return f"{turn} · {players.names[public.turn]} calls Pokino!"
    if public.over:
        return f"{turn} · {'everybody passed' if public.poke_size else 'the poke is empty'}"
    return f"{turn} · {players.names[public.turn]} to act"


def _badges(public: PokinoView, seat: int) -> list[Badge]:
    beads = public.beads[seat]
    badges = [Badge(f"{beads} bead{'' if beads == 1 else 's'}", "plain")]
    last = public.turns[-1] if public.turns else None
    if public.pokino and seat == public.turn:
        badges.append(Badge("Pokino!", "good"))
    elif last and last.seat == seat and not (last.domino or last.run):
        badges.append(Badge("passed", "plain"))
    return badges


def _areas(
    public: PokinoView, hands: Mapping[int, PokinoView], seat: int
) -> list[PrivateCards | CardLines]:
    known, size = public.known[seat].cards, public.hand_sizes[seat]
    last = public.turns[-1] if public.turns else None
    drawn = last.drawn if last and last.seat == seat else ""
    view = hands.get(seat)
    cards = tiles = None
    if view is not None:
        cards = CardGroup(known_faces(view.hand, known, drawn))
        tiles = DominoGroup(view.dominoes)
    closed = CardGroup(known_faces(in_order(known), known, drawn), size - len(known))
    return [
        PrivateCards("hand", "hand", seat, cards, closed),
        PrivateCards(
            "dominoes", "dominoes", seat, tiles, DominoGroup((), public.domino_counts[seat])
        ),
        _runs(public, seat),
    ]


def _runs(public: PokinoView, seat: int) -> CardLines:
    """Return the runs of a seat, the latest one first."""
    runs = [run.cards for run in public.runs if run.seat == seat]
    fresh = bool(public.turns) and public.turns[-1].seat == seat and bool(public.turns[-1].run)
    rows = [
        ("", face_up(cards, *((FRESH,) * (fresh and number == len(runs)))))
        for number, cards in enumerate(runs, 1)
    ]
    return CardLines("runs", "runs", tuple(reversed(rows)))


def _pick(square: PokinoSquare) -> Pick:
    return Pick(str(square))


def _turn(turn: PokinoTurn) -> str:
    """Return a turn as a phrase; a later turn may have removed the domino that it laid."""
    if turn.domino:
        made = f"lays {turn.domino}"
    else:
        made = f"runs {' '.join(turn.run)}" if turn.run else "passes"
    return f"{made} and draws {turn.drawn}" if turn.drawn else made


def _square(text: str) -> PokinoSquare | None:
    square = _SQUARE.fullmatch(text)
    return None if square is None else PokinoSquare(int(square[1]), int(square[2]))


def _parsed_domino(words: Sequence[str], draw: bool) -> Domino | None:
    """Return the domino laid on a square in a direction."""
    tile, place, direction = words
    square = _square(place)
    if tile not in NUMBERS or square is None:
        return None
    return Domino(Tile(tile), square.x, square.y, direction, draw)


def _parsed_run(words: Sequence[str], draw: bool) -> Run | None:
    """Return the run of alternating cards and squares."""
    cards = tuple(Card(word.upper()) for word in words[::2] if word.upper() in RANK)
    path = tuple(square for word in words[1::2] if (square := _square(word)) is not None)
    complete = len(words) == 2 * len(cards) == 2 * len(path)
    return Run(path, cards, draw) if cards and complete else None


class PokinoPresentation(Presentation):
    """Presentation of Pokino."""

    clip = 100
    seconds = 0.5
    summary = (
        "Lay dominoes so that the numbers of your cards touch, then play your cards along them."
    )
    aim = (
        "Play your last card and you win at once. Else most points win when the dominoes are used "
        "up; longer runs score more."
    )
    terms = (
        ("bead", "The price of a card in a run. Laying a domino gives one."),
        ("run", "Cards that match a path of squares, in order."),
        ("spoke", "The four dominoes that lie on the table at the start."),
        ("poke", "The stock of dominoes, face down."),
        ("token", "It closes the border between two squares for everybody."),
        ("domino", "2,-1 is column 2, row -1. A domino has the place of its smaller number."),
        ("Pokino", "Playing the last card of the hand, which wins the game at once."),
    )
    short_rules = """\
Lay dominoes so that numbers of your cards lie side by side, and play cards along them as runs.
- A turn: lay a domino, play a run, or pass; then draw the top card of the deck.
- A domino covers two free squares (x to the right, y downwards) and must touch a domino on the
  table; numbers need not match. It is written by the square of its smaller number and the
  direction of the larger. Who lays one draws a domino and takes a bead.
- A run is a path of two squares or more over borders between different dominoes, with one card
  of the hand for each square: king 0, ace 1, 2 to 10, jack 11, queen 12. It costs a bead per
  card. Every border crossed gets a token and is closed to everybody for good.
- Runs of 2 to 4 cards score 5, of 5 cards 10, 6: 15, 7: 20, 8: 35, 9: 55, 10 or more: 90.
- Who has no card after a run calls Pokino and wins at once, whatever the points. Else the game
  ends when the poke (stock of dominoes) is empty, or all pass in a row without drawing; most
  points win."""
    hidden_cards = (("deck", "deck"),)
    control_areas = ("dominoes", "board")
    prompt = "Choose a domino, then two squares; or click along a run."

    def render(
        self, public: PokinoView, hands: Mapping[int, PokinoView], players: Players
    ) -> TableRendering:
        """Return the rendering of a position; the whole game is one chapter."""
        removed = (
            (OpenCards("removed", "removed", DominoGroup(public.removed)),)
            if public.removed
            else ()
        )
        top = face_up((Card(public.deck_top),)) if public.deck_top else CardGroup()
        return TableRendering(
            chapter=0,
            heading=_heading(public, players),
            facts=(
                *(caption for name, caption in _VARIANTS.items() if getattr(public, name)),
                f"{public.deck_size} card{'s' * (public.deck_size != 1)}, "
                f"{public.poke_size} dominoes left",
                "K 0, A 1, J 11, Q 12",
            ),
            seats=tuple(
                players.seat(seat, _badges(public, seat), _areas(public, hands, seat))
                for seat in range(len(players.names))
            ),
            centre=(board(public), OpenCards("deck", "top of the deck", top), *removed),
        )

    def phrase(self, action: Action) -> str:
        draws = "" if action.draw else " and draws no card"
        match action:
            case Domino(domino):
                return f"lays {domino}{draws}"
            case Run(cards=cards):
                return f"runs {' '.join(cards)}{draws}"
        return f"passes{draws}"

    def is_notable(self, action: Action) -> bool:
        return isinstance(action, Run)

    def history(self, public: PokinoView) -> Sequence[PublicAction]:
        return [PublicAction(turn.seat, _turn(turn)) for turn in public.turns]

    def choice(self, action: Action) -> str:
        """Return an action with the square of every card of a run."""
        draws = "" if action.draw else f" {_NO_DRAW}"
        match action:
            case Domino(domino, x, y, direction):
                return f"domino {domino} {x},{y} {direction}{draws}"
            case Run(path, cards):
                steps = (f"{card} {square}" for card, square in zip(cards, path, strict=True))
                return f"run {' '.join(steps)}{draws}"
        return f"pass{draws}"

    def parse(self, text: str) -> Action | None:
        made = " ".join(text.lower().split())
        draw = not made.endswith(_NO_DRAW)
        kind, *words = made.removesuffix(_NO_DRAW).split() or [""]
        match kind, words:
            case "pass", []:
                return PassTurn(draw)
            case "domino", [_, _, _]:
                return _parsed_domino(words, draw)
            case "run", _:
                return _parsed_run(words, draw)
        return None

    def selection(self, action: Action) -> Selection:
        """Return a domino and the square of each number, or the squares of a run along its path."""
        match action:
            case Domino(domino):
                numbers = map(str, NUMBERS[domino])
                ends = (PokinoSquare(*coordinates(end)) for end in squares(action))
                placed = (Pick(str(end), number) for number, end in zip(numbers, ends, strict=True))
                return Selection((Pick(domino), *placed), enough=2)
            case Run(path):
                return Selection(tuple(map(_pick, path)), ordered=True)
        return Selection()

    def continued(self, legal: Legal, picks: Sequence[str]) -> Iterable[Action]:
        path = tuple(square for pick in picks if (square := _square(pick)) is not None)
        if not isinstance(legal, PokinoTurns) or len(path) < len(picks):
            return ()
        return legal.runs_along(path)

    def task(self, view: PokinoView) -> str:
        return "lay a domino, run or pass"

    def remark(self, view: PokinoView) -> str:
        return f"A run costs a bead for each card; you have {view.beads[view.turn]}."

    def rules_now(self, view: PokinoView) -> Sequence[str]:
        variants = [section for name, section in _RULES.items() if getattr(view, name)]
        return ("K-3", "K-4", "K-5", "K-6", "K-7", *variants)


PRESENTATION = PokinoPresentation
