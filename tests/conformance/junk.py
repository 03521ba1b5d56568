"""Actions that are nearly legal, and things that are no actions at all."""

import random
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, get_type_hints

from referee.games.contract import Action

JUNK = ("", "ZZ", "as", "A", "10S", " AS", "AS ", "AS KS", "ÄS", "X1", "0", "2" * 300)
NO_ACTIONS: tuple[object, ...] = (
    None,
    0,
    True,
    "stand",
    "AS",
    (),
    ("AS",),
    frozenset(),
    object(),
    int,
)


def near(action: Action, things: list[str], rng: random.Random) -> Iterator[Action]:
    """Actions of the same kind that differ a little."""
    hints = get_type_hints(type(action))
    for field in fields(action):
        value = getattr(action, field.name)
        if isinstance(value, tuple):
            values: Iterator[Any] = near_list(value, things, rng)
        elif hints[field.name] in (int, bool):
            values = iter([value + 1, value - 1, -value, value + 1000])
        else:
            values = iter([rng.choice(things), rng.choice(JUNK), value + " ", value.lower()])
        for other in values:
            yield replace(action, **{field.name: other})


def near_list(value: tuple[str, ...], things: list[str], rng: random.Random) -> Iterator[Any]:
    """Lists that differ a little."""
    yield ()
    yield value[1:]
    yield value[::-1]
    yield tuple(rng.sample(value, len(value)))
    yield (*value, rng.choice(things))
    yield (*value, rng.choice(JUNK))
    yield (*value, *value)
    yield (*value, *value[:1])
    yield tuple(rng.sample(things, len(value)))
    yield tuple(rng.choice(things) for _ in value)
    yield (*value[1:], rng.choice(things))
    yield (*value[1:], rng.choice(JUNK))
    yield (*value[1:], *value[1:])[: len(value)]


def of_kind(kind: type, things: list[str], rng: random.Random) -> Action:
    """An action of a kind, made of anything."""
    made: dict[str, Any] = {}
    for name, hint in get_type_hints(kind).items():
        if hint is bool:
            made[name] = rng.random() < 0.5
        elif hint is int:
            made[name] = rng.randint(0, 12)
        elif str(hint).startswith("tuple"):
            made[name] = tuple(rng.sample(things, rng.randint(0, min(5, len(things)))))
        else:
            made[name] = rng.choice(things)
    return kind(**made)
