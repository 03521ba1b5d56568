"""Interface between a game and everything that shows or estimates it.

Each attribute and method has a default that works for every game. The presentation of a game is a
subclass of :class:`Presentation` that overrides the defaults that do not fit it
(`referee.presentation.registry`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Final

from referee.games.contract import Action, Game, Legal, View
from referee.presentation.elements import (
    OpenCards,
    Players,
    PublicAction,
    ScoreTable,
    TableRendering,
    face_up,
)
from referee.presentation.lesson import Lesson, example_lessons
from referee.presentation.selection import Selection, selection_by_fields

UNCLIPPED: Final = 1_000_000


class Presentation:
    """How a game is shown, and its usual magnitudes."""

    clip: ClassVar[int] = UNCLIPPED
    """The largest score margin that counts in full, in the game's points.

    The limit of a game is the rounded 0.98 quantile of the margins of the house bots `greedy`,
    `bold`, `meek` and `random` (40 to 140 games each). It is constant, because a clip computed from
    the current matches would change old figures. After changing a limit, rebuild the ladders
    (`pokearena ladder rebuild`).
    """
    seconds: ClassVar[float] = 0.3
    """Seconds that one worker needs for a game of house bots, until matches were measured."""
    demo_boards: ClassVar[int] = 2
    """Boards per match of the demo.

    The demo takes about two minutes on two cores, mostly for `strong`.
    """
    demo_searcher: ClassVar[bool] = False
    """Whether the house bot `strong` plays this game in the short demo."""
    target_rate: ClassVar[int] = 10_000
    """Random actions per second that the rules must reach in `bench rules`."""
    summary: ClassVar[str] = ""
    """The game in one sentence, for people who do not know it."""
    aim: ClassVar[str] = ""
    """How the game is won, in one or two sentences."""
    terms: ClassVar[tuple[tuple[str, str], ...]] = ()
    """The words of the game with their explanations, for the glossary."""
    short_rules: ClassVar[str] = ""
    """The rules in a few sentences, for questions as text; options and details may be left out."""
    tasks: ClassVar[tuple[tuple[str, str], ...]] = ()
    """What a seat decides, such as "show two cards", by the field `phase` of its view."""
    hidden_cards: ClassVar[tuple[tuple[str, str], ...]] = ()
    """The fields of a position with cards that no seat can see, with their labels."""
    control_areas: ClassVar[tuple[str, ...]] = ("hand",)
    """Keys of the areas whose elements select the actions of a person."""
    prompt: ClassVar[str] = "Click a framed card."
    """How a person begins to select an action on the table, as a sentence."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def render(self, public: Any, hands: Mapping[int, Any], players: Players) -> TableRendering:
        """Return the rendering of a position; by default every field of the views, by name.

        Args:
            public: the view of a spectator, without private information.
            hands: the views of the seats whose hands are open; empty for spectators.
            players: the players, and the seats to act.
        """
        views = [("everybody", public)]
        views += [(players.names[seat], view) for seat, view in hands.items()]
        names = [field.name for field in fields(public)]
        rows = tuple((name, *(str(getattr(view, name)) for _, view in views)) for name in names)
        heads = ("", *(f"{who} sees" for who, _ in views))
        seats = tuple(players.seat(seat, (), ()) for seat in range(len(players.names)))
        scores = ScoreTable("fields", "position", heads, rows)
        return TableRendering(
            chapter=0, heading="Position", facts=(), seats=seats, centre=(), below=(scores,)
        )

    def hidden(self, state: Any) -> tuple[OpenCards, ...]:
        """Return what no seat can see, such as the stock; a replay in the terminal shows it."""
        return tuple(
            OpenCards(name, label, face_up(getattr(state, name)))
            for name, label in self.hidden_cards
        )

    def scores(self, public: View, seats: int) -> tuple[int, ...]:
        """Return the score of every seat; by default the field `scores` of the public view."""
        return tuple(getattr(public, "scores", (0,) * seats))

    def phrase(self, action: Action) -> str:
        """Return an action as a phrase in the third person, such as "leads 4C 4H"."""
        from referee.action_phrases import describe

        return describe(action)

    def public_phrase(self, action: Action) -> str:
        """Return the public part of an action with hidden cards; "" if all of it is public."""
        return ""

    def is_notable(self, action: Action) -> bool:
        """Return whether a replay's "next event" stops at the action; by default at none."""
        return False

    def history(self, public: Any) -> Sequence[PublicAction]:
        """Return the actions of the whole game so far, in order; by default none.

        Later views of the same game only append to it. Simultaneous actions appear once all seats
        have chosen, in seat order.

        Args:
            public: the view of a spectator or of any seat.
        """
        return ()

    def choice(self, action: Action) -> str:
        """Return an action as a line of a menu, such as "lead 4C 4H"; no two actions share one."""
        from referee.action_phrases import describe

        return describe(action)

    def parse(self, text: str) -> Action | None:
        """Return the action that :meth:`choice` would write as this text, or None.

        The default fits the default of :meth:`choice`. The action need not be legal.
        """
        from referee.action_phrases import parse_description

        return parse_description(text, self.game.action_types)

    def selection(self, action: Action) -> Selection:
        """Return the elements of the areas `control_areas` by which a person selects an action.

        By default these are the cards and dominoes in its fields. An action without elements is a
        button.
        """
        return selection_by_fields(action)

    def continued(self, legal: Legal, picks: Sequence[str]) -> Iterable[Action]:
        """Return legal actions that begin with these elements, if a question lists not all."""
        return ()

    def task(self, view: Any) -> str:
        """Return what the seat of a view decides now; by default that of its phase in `tasks`.

        A table of a person shows it to players who do not know the game.
        """
        return dict(self.tasks).get(getattr(view, "phase", ""), "")

    def remark(self, view: Any) -> str:
        """Tell the seat of a view why cards cannot be played, or what a choice costs, if needed."""
        return ""

    def lessons(self) -> Sequence[Lesson]:
        """Return positions with questions, by which a person learns the game in a minute.

        Those of a built-in game are `LESSONS` of the module of `lessons` with its id. By default
        these are positions of a random game with some of their legal actions. The last lesson is
        also the picture of the game.
        """
        name = f"referee.presentation.lessons.{self.game.id}"
        if find_spec(name) is None:
            return example_lessons(self)
        lessons: Sequence[Lesson] = import_module(name).LESSONS
        return lessons

    def rules_now(self, view: Any) -> Sequence[str]:
        """Return the rules that apply to the decision in a seat's view; by default none.

        Each is the number of a rule ("P-3.2") or of a section ("P-3") of the game's rules page.
        """
        return ()
