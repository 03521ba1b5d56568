"""Show a game of OpenSpiel: its text as a table, and the public events."""

import inspect
import re
from collections.abc import Mapping, Sequence

from openspiel_games.adapter import Event, Move, OpenSpielGame, OpenSpielView
from openspiel_games.knowledge import CHANCE
from referee.games.contract import Action, Game
from referee.presentation.contract import Presentation
from referee.presentation.elements import Players, PublicAction, ScoreTable, TableRendering

Views = Mapping[int, OpenSpielView]


class OpenSpielPresentation(Presentation):
    """Presentation of every game of the package."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        assert isinstance(game, OpenSpielGame)
        self._is_open = game.rules.is_open
        self.short_rules = " ".join((inspect.getdoc(type(game)) or "").split())  # type: ignore[misc]

    def render(self, public: OpenSpielView, hands: Views, players: Players) -> TableRendering:
        """Return the rendering of a position; the whole game is one chapter."""
        views = {"board": public} if self._is_open else {players.names[s]: hands[s] for s in hands}
        tables = [_table(name, view, self._is_open) for name, view in views.items()]
        turned = [event.name for event in public.events if event.seat == CHANCE and event.public]
        actions = [event for event in public.events if event.seat != CHANCE]
        return TableRendering(
            chapter=0,
            heading=f"{len(actions)} actions played",
            facts=(f"open: {' '.join(turned)}",) if turned else (),
            seats=tuple(players.seat(seat, (), ()) for seat in range(len(players.names))),
            centre=(),
            below=(*tables, _latest(actions, players)),
        )

    def history(self, public: OpenSpielView) -> Sequence[PublicAction]:
        return tuple(
            PublicAction(event.seat, event.name if event.public else "acts face down")
            for event in public.events
            if event.seat != CHANCE
        )

    def choice(self, action: Action) -> str:
        return str(action.name)

    def phrase(self, action: Action) -> str:
        return str(action.name)

    def parse(self, text: str) -> Action | None:
        return Move(text)


def _table(name: str, view: OpenSpielView, is_board: bool) -> ScoreTable:
    """Return what a seat sees: the lines of its text, and its own dealt cards."""
    cells = _squares if is_board else _words
    rows = [row for line in view.text.replace("][", "]\n[").splitlines() if (row := cells(line))]
    own = [each.name for each in view.events if each.seat == CHANCE and not each.public]
    rows += [("dealt", " ".join(filter(None, own)))] if any(own) else []
    width = max(map(len, rows), default=0)
    padded = tuple((*row, *[""] * (width - len(row))) for row in rows)
    return ScoreTable(name, name, ("",) * width, padded)


def _squares(line: str) -> tuple[str, ...]:
    return tuple(line.rstrip())


def _words(line: str) -> tuple[str, ...]:
    """Return the columns of a line of text; lines without words are frames and codes."""
    if not re.search("[A-Za-z]", line):
        return ()
    return tuple(re.split(r" {2,}", line.strip(" |")))


def _latest(actions: Sequence[Event], players: Players) -> ScoreTable:
    """Return the last action of each seat."""
    last = {event.seat: event for event in actions}
    rows = tuple(
        (players.names[seat], event.name if event.public else "face down")
        for seat, event in sorted(last.items())
    )
    return ScoreTable("latest", "last actions", ("", "action") if rows else (), rows)
