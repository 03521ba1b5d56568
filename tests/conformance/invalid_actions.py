"""Generate actions that are nearly legal, and values that are not actions."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, get_args, get_type_hints

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
    """Yield actions of the same type that differ in one field."""
    hints = get_type_hints(type(action))
    for field in fields(action):
        value = getattr(action, field.name)
        hint = hints[field.name]
        if isinstance(value, tuple):
            sensible, junk = listable(hint, things, rng)
            values: Iterator[Any] = near_list(value, sensible, junk, rng)
        elif hint is bool:
            values = iter([not value])
        elif hint is int:
            values = iter([value + 1, value - 1, -value, value + 1000])
        else:
            values = iter([rng.choice(things), rng.choice(JUNK), value + " ", value.lower()])
        for other in values:
            yield replace(action, **{field.name: other})


def listable(hint: Any, things: list[str], rng: random.Random) -> tuple[list[Any], Sequence[Any]]:
    """Return sensible and senseless elements for a list of this type."""
    inner: Any = get_args(hint)[0]
    if not is_dataclass(inner):
        return things, JUNK
    return [of_kind(inner, things, rng) for _ in range(40)], [far_away(inner)]


def far_away(kind: Any) -> Any:
    """Return a value of a type with numbers that are far too large."""
    return kind(**dict.fromkeys(get_type_hints(kind), 1 << 30))


def near_list(
    value: tuple[Any, ...], things: list[Any], junk: Sequence[Any], rng: random.Random
) -> Iterator[Any]:
    """Yield variations of a list."""
    yield ()
    yield value[1:]
    yield value[::-1]
    yield tuple(rng.sample(value, len(value)))
    yield (*value, rng.choice(things))
    yield (*value, rng.choice(junk))
    yield (*value, *value)
    yield (*value, *value[:1])
    yield tuple(rng.sample(things, len(value)))
    yield tuple(rng.choice(things) for _ in value)
    yield (*value[1:], rng.choice(things))
    yield (*value[1:], rng.choice(junk))
    yield (*value[1:], *value[1:])[: len(value)]


def of_kind(kind: Any, things: list[str], rng: random.Random) -> Action:
    """Return an action of a type with random content."""
    made: dict[str, Any] = {}
    for name, hint in get_type_hints(kind).items():
        if hint is bool:
            made[name] = rng.random() < 0.5
        elif hint is int:
            made[name] = rng.randint(0, 12)
        elif str(hint).startswith("tuple"):
            sensible, _ = listable(hint, things, rng)
            made[name] = tuple(rng.sample(sensible, rng.randint(0, min(5, len(sensible)))))
        else:
            made[name] = rng.choice(things)
    return kind(**made)
