"""Adapt a game of OpenSpiel: turn-based, with or without chance and hidden information.

A position is the history of the game: the actions of the seats and the outcomes of chance, which
come from the arena's chance source. The objects of OpenSpiel follow from it and are cached.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any, ClassVar, Final

import pyspiel

from openspiel_games.knowledge import CHANCE, Knowledge, Step, everything
from openspiel_games.worlds import Worlds, scores_of
from referee.games.contract import Action, Game, Legal, ListedLegal, Options, State
from referee.games.shared.dealing import Chance

HIDDEN: Final = -1
"""Action of an event that the viewer has not seen."""
_FINE: Final = 1 << 30
"""Resolution of outcomes that are not equally likely."""
_REMEMBERED: Final = 1 << 13
_DEPTH: Final = 200
_PREFIX: Final = re.compile(r"^(Player: \d+ Action: |Chance outcome: ?|Deal:? |Choose )")


@dataclass(frozen=True, slots=True)
class Move:
    """Play the action with this name."""

    name: str


@dataclass(frozen=True, slots=True)
class Event:
    """An action of a seat or an outcome of chance."""

    seat: int
    """The seat; -1 for chance."""
    action: int
    """The number of the action in OpenSpiel; -1 if the viewer has not seen it."""
    name: str
    """Empty if the viewer has not seen it."""
    public: bool
    """Whether everybody has seen it."""


@dataclass(frozen=True, slots=True)
class OpenSpielView:
    """The view of a seat or a spectator."""

    text: str
    """What OpenSpiel shows to the seat; empty at the end of a game with hidden information."""
    events: tuple[Event, ...]
    scores: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """A game of OpenSpiel with what the arena needs to know about it."""

    name: str
    """Its name with parameters, as `pyspiel.load_game` reads it."""
    knowledge: Knowledge = everything
    worlds: Worlds | None = None
    """How to make positions of views; None for a game with hidden information: not at all."""

    @property
    def game(self) -> Any:
        return _loaded(self.name)

    @property
    def is_open(self) -> bool:
        return self.knowledge is everything


_RULES: Final[dict[str, Rules]] = {}
"""The rules by name, of all subclasses of `OpenSpielGame`."""


@cache
def _loaded(name: str) -> Any:
    return pyspiel.load_game(name)


@dataclass(frozen=True, slots=True)
class Position:
    """A state of OpenSpiel, which nobody changes, and the names of the actions that led to it."""

    state: Any
    steps: tuple[Step, ...]
    names: tuple[str, ...]

    def after(self, action: int) -> "Position":
        seat = CHANCE if self.state.is_chance_node() else self.state.current_player()
        after = self.state.clone()
        after.apply_action(action)
        name = _PREFIX.sub("", self.state.action_to_string(seat, action))
        return Position(after, (*self.steps, (seat, action)), (*self.names, name))

    def actions(self) -> dict[str, int]:
        """Return the legal actions by name."""
        seat = self.state.current_player()
        name = self.state.action_to_string
        return {_PREFIX.sub("", name(seat, each)): each for each in self.state.legal_actions()}


@lru_cache(_REMEMBERED)
def _position(name: str, history: tuple[int, ...]) -> Position:
    """Return the position after a history; that before its last action is usually cached."""
    if not history:
        return Position(_loaded(name).new_initial_state(), (), ())
    return _position(name, history[:-1]).after(history[-1])


def position(name: str, history: tuple[int, ...]) -> Position:
    """Return the position after a history."""
    for length in range(0, len(history), _DEPTH):  # bounds the depth of the recursion
        _position(name, history[:length])
    return _position(name, history)


@dataclass(frozen=True)
class OpenSpielState(State):
    """A position."""

    name: str
    """The name of the rules."""
    history: tuple[int, ...]
    luck: Chance

    @property
    def rules(self) -> Rules:
        return _RULES[self.name]

    @property
    def now(self) -> Position:
        """The state of OpenSpiel, which must not be changed, and what led to it."""
        return position(self.name, self.history)

    @property
    def actors(self) -> tuple[int, ...]:
        state = self.now.state
        return () if state.is_terminal() else (state.current_player(),)

    @property
    def scores(self) -> tuple[int, ...]:
        return scores_of(self.now.state)

    def legal(self, seat: int) -> Legal:
        return ListedLegal(map(Move, self.now.actions()))

    def view(self, seat: int) -> OpenSpielView:
        return OpenSpielView(self._text(seat), self._events(seat), self.scores)

    def public(self) -> OpenSpielView:
        text = self._text(0) if self.rules.is_open else ""
        return OpenSpielView(text, self._events(None), self.scores)

    def _text(self, seat: int) -> str:
        state, kind = self.now.state, self.rules.game.get_type()
        if state.is_terminal() and not self.rules.is_open:
            return ""  # at the end, the texts of some games have all hands
        if kind.provides_observation_string:
            return str(state.observation_string(seat))
        return str(state.information_state_string(seat))

    def _events(self, viewer: int | None) -> tuple[Event, ...]:
        now = self.now
        events = []
        for (seat, action), name, seers in zip(
            now.steps, now.names, self.rules.knowledge(now.steps), strict=True
        ):
            is_seen = seers is None or viewer in seers
            shown = (action, name) if is_seen else (HIDDEN, "")
            events.append(Event(seat, *shown, seers is None))
        return tuple(events)

    def after(self, moves: Mapping[int, Action]) -> "OpenSpielState":
        (action,) = moves.values()
        history = (*self.history, self.now.actions()[action.name])
        return self.but(history=history).with_chance()

    def with_chance(self) -> "OpenSpielState":
        """Return the next position at which a seat acts, or the end."""
        now, history = self.now, self.history
        number = sum(seat == CHANCE for seat, _ in now.steps)
        while now.state.is_chance_node():
            history = (*history, self._outcome(now.state, number))
            now = position(self.name, history)
            number += 1
        return self.but(history=history)

    def _outcome(self, state: Any, number: int) -> int:
        outcomes, weights = zip(*state.chance_outcomes(), strict=True)
        if max(weights) - min(weights) < 1 / _FINE:
            return int(outcomes[self.luck.below("chance", number, len(outcomes))])
        drawn = self.luck.below("chance", number, _FINE) / _FINE
        place = bisect_right(list(accumulate(weights)), drawn)
        return int(outcomes[min(place, len(outcomes) - 1)])

    def redeal(self, seat: int | None, luck: Chance) -> "OpenSpielState":
        view = self.public() if seat is None else self.view(seat)
        return state_of(self.rules, view, luck)


def state_of(rules: Rules, view: OpenSpielView, luck: Chance) -> OpenSpielState:
    """Return a position with this view."""
    events = [(event.seat, event.action) for event in view.events]
    history = tuple(action for _, action in events)
    if not rules.is_open:
        assert rules.worlds is not None
        history = rules.worlds(rules.game, events, view.scores, luck)
    return OpenSpielState(rules.name, history, luck)


class OpenSpielGame(Game):
    """A game of OpenSpiel. A subclass names it."""

    rules: ClassVar[Rules]
    view_type = OpenSpielView
    action_types = (Move,)
    presentation = "openspiel_games.show:OpenSpielPresentation"

    def __init_subclass__(cls) -> None:
        if "rules" in vars(cls):
            _RULES[cls.rules.name] = cls.rules

    def _start(self, luck: Chance, seats: int, options: Options) -> OpenSpielState:
        return OpenSpielState(self.rules.name, (), luck).with_chance()

    def from_view(
        self, view: Any, seat: int | None, options: Options, luck: Chance
    ) -> OpenSpielState:
        return state_of(self.rules, view, luck)


class PartnershipGame(OpenSpielGame):
    """A game of two sides whose seats alternate."""

    def sides(self, seats: int, options: Options) -> tuple[int, ...]:
        return tuple(seat % 2 for seat in range(seats))
