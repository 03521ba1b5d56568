"""Checks of legal actions: `in`, iteration and the rules agree in both directions."""

from collections.abc import Iterator
from dataclasses import fields
from random import Random
from typing import Any

from referee.game_checks.near_actions import NO_ACTIONS, near, of_kind
from referee.game_checks.random_games import Step, dice, texts_in
from referee.game_checks.rule_checks import some_steps
from referee.game_checks.tables import Table
from referee.games.contract import Action, IllegalAction, Legal

_PLAYED = 40
"""Listed actions of a position that are played."""
_TRIES = 60
"""Nearly legal actions that are tried in a position."""
Normal = tuple[Any, ...]


def _turns(table: Table) -> Iterator[tuple[Step, int, Legal]]:
    for step in some_steps(table, 4):
        for seat in step.moves:
            yield step, seat, step.state.legal(seat)


def listing(table: Table) -> Iterator[str]:
    """Listed actions are legal, distinct, of the game's types, and always in one order."""
    for step, seat, legal in _turns(table):
        listed = list(legal)
        if not listed:
            yield f"seat {seat} acts and has no legal action"
        if listed != list(legal) or listed != list(step.state.legal(seat)):
            yield "two lists of the legal actions of one position differ"
        if len(set(listed)) != len(listed):
            yield "an action is listed twice"
        if not isinstance(legal.complete, bool):
            yield f"complete is {legal.complete}"
        for action in listed:
            if action not in legal:
                yield f"{action} is listed and refused"
            if type(action) not in table.game.action_types:
                yield f"{action} is listed, and its type is not in action_types"
        if listed and legal.any(Random(seat)) != Random(seat).choice(listed):
            yield "any is not the random choice from the list"


def listed_actions_are_played(table: Table) -> Iterator[str]:
    """Every listed action can be played, and the position after it can be seen."""
    for step, seat, legal in _turns(table):
        for action in list(legal)[:_PLAYED]:
            after = step.state.play({**step.moves, seat: action})
            for viewer in range(table.seats):
                after.view(viewer)
            if type(after.public()) is not table.game.view_type:
                yield f"the public view after {action} has not the type view_type"


def refusal(table: Table) -> Iterator[str]:
    """`in` is false for everything else, without an exception, and `play` refuses it."""
    rng = dice("near", table)
    for step, seat, legal in _turns(table):
        listed = list(legal)
        known = set(map(_normal, listed))
        things = sorted(texts_in(step.state) | set().union(*map(texts_in, listed))) or ["ZZ"]
        tried = [*near(rng.choice(listed), things, rng), *near(listed[-1], things, rng)]
        tried += [of_kind(kind, things, rng) for kind in table.game.action_types]
        for action in rng.sample(tried, min(_TRIES, len(tried))):
            is_legal = action in legal
            if is_legal and legal.complete and _normal(action) not in known:
                yield f"{action} is accepted and not listed, and the list is complete"
            if not is_legal and _is_played(step, seat, action):
                yield f"{action} is refused and played"
            if is_legal:
                step.state.play({**step.moves, seat: action})
        for value in (*NO_ACTIONS, step.state, legal, type(listed[0])):
            if value in legal:
                yield f"{value} is accepted as an action"


def _is_played(step: Step, seat: int, action: Action) -> bool:
    try:
        step.state.play({**step.moves, seat: action})
    except IllegalAction:
        return False
    return True


def _normal(action: Action) -> Normal:
    """Return a form that is equal for other orders of the elements of an action."""
    values = [getattr(action, field.name) for field in fields(action)]
    return (
        type(action),
        *(tuple(sorted(v, key=repr)) if isinstance(v, tuple) else v for v in values),
    )
