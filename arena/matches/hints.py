"""Hints for people at tables: the action of the house bot greedy and its win expectation.

A hint is computed from the view of the person's seat. Tables of people are not rated; rated
matches have no hints.
"""

import time
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Final

from pokearena.v1 import bot_pb2

from arena.bots import resolver
from arena.bots.in_process import Choose, answer, load
from arena.matches.human_seats import PersonQuestion
from arena.records.analysis.engine import NoEngine, engine_of
from arena.records.analysis.match_analysis import Estimate, PlayoutRater, estimate
from referee.games.contract import Action
from referee.games.shared.dealing import SEED_BYTES, Seeded
from referee.generic_codec import new_codec
from referee.presentation.selection import Pick

ADVISER: Final = "greedy"
"""The house bot whose actions are the hints."""
_SECONDS: Final = 0.5
"""Time in which playouts are begun. They share the interpreter with the pages."""
_PLAYOUTS: Final = 60
_one_at_a_time = Lock()


@dataclass(frozen=True, slots=True)
class Hint:
    """A hint for one question."""

    question: str
    """Id of the question."""
    words: str
    """The action of the adviser, which the question need not list."""
    picks: tuple[Pick, ...]
    """The elements of the table that the action selects."""
    worth: Estimate | None
    """The seat's win expectation after it; None if no engine plays the game."""


@cache
def gives_hints(game: str) -> bool:
    """Return whether the adviser plays a game."""
    return resolver.sample(ADVISER).plays(game)


def hint_for(question: PersonQuestion, named: str, seconds: float = _SECONDS) -> Hint:
    """Return a hint for an open question.

    Args:
        question: the question. Only its view is used; hidden cards are dealt at random.
        named: the id of the question.
        seconds: time in which playouts are begun; at least two are made.
    """
    with _one_at_a_time:
        action = _advice(question)
        try:
            worth = _worth(question, action, seconds)
        except NoEngine:
            worth = None
    presentation = question.presentation
    picks = presentation.selection(action).picks
    return Hint(named, presentation.choice(action), picks, worth)


@cache
def _adviser() -> Choose:
    return load(ADVISER)


def _advice(question: PersonQuestion) -> Action:
    codec = new_codec(question.rules)
    head = bot_pb2.ActRequest(
        match="hint",
        game=question.game,
        decision=question.decision,
        seat=question.seat,
        complete=question.complete,
    )
    data = codec.question(head, question.view, question.actions)
    return codec.decode(answer(_adviser(), bot_pb2.ActRequest.FromString(data)))


def _worth(question: PersonQuestion, action: Action, seconds: float) -> Estimate:
    """Play positions with this view to their ends after the action."""
    sides = question.rules.sides(len(question.names), question.options)
    rater = PlayoutRater(engine_of(question.rules.id), sides)
    until = time.monotonic() + seconds
    values: list[float] = []
    for world in range(_PLAYOUTS):
        if world > 1 and time.monotonic() > until:
            break
        state = question.position(Seeded(world.to_bytes(SEED_BYTES, "big")))
        values.append(rater.rate(state, {question.seat: action})[question.seat])
    return estimate(values)
