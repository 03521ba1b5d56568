"""Generate actions that are nearly legal, and values that are not actions."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from types import UnionType
from typing import Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

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
        for other in _near_value(hints[field.name], getattr(action, field.name), things, rng):
            yield replace(action, **{field.name: other})


def _near_value(hint: Any, value: Any, things: list[str], rng: random.Random) -> Iterator[Any]:
    hint = _plain(hint)
    if get_origin(hint) is tuple:
        yield from _near_tuple(hint, value, things, rng)
    elif get_origin(hint) in (Union, UnionType):
        yield from _near_optional(hint, value, things, rng)
    elif get_origin(hint) is Literal:
        yield from get_args(hint)
    elif is_dataclass(hint):
        yield from near(value, things, rng)
    elif hint is bool:
        yield not value
    elif hint in (int, float):
        yield from (value + 1, value - 1, -value, value + 1000)
    else:
        yield from (rng.choice(things), rng.choice(JUNK), value + " ", value.lower())


def _plain(hint: Any) -> Any:
    while isinstance(hint, NewType):
        hint = hint.__supertype__
    return hint


def _near_tuple(hint: Any, value: Any, things: list[str], rng: random.Random) -> Iterator[Any]:
    parts = get_args(hint)
    if parts[1:] == (...,):
        sensible, junk = _elements(parts[0], things, rng)
        yield from _near_list(value, sensible, junk, rng)
        return
    for number, part in enumerate(parts):
        for other in _near_value(part, value[number], things, rng):
            yield (*value[:number], other, *value[number + 1 :])


def _near_optional(hint: Any, value: Any, things: list[str], rng: random.Random) -> Iterator[Any]:
    (inner,) = [part for part in get_args(hint) if part is not type(None)]
    if value is None:
        yield _random_value(inner, things, rng)
        return
    yield None
    yield from _near_value(inner, value, things, rng)


def _elements(inner: Any, things: list[str], rng: random.Random) -> tuple[list[Any], Sequence[Any]]:
    """Return sensible and senseless elements for a list of this type."""
    inner = _plain(inner)
    if is_dataclass(inner):
        return [of_kind(inner, things, rng) for _ in range(40)], [_far_away(inner, things, rng)]
    if isinstance(inner, type) and issubclass(inner, str):
        return things, JUNK
    return [_random_value(inner, things, rng) for _ in range(40)], [1 << 30]


def _far_away(kind: Any, things: list[str], rng: random.Random) -> Any:
    """Return a value of a type with numbers that are far too large."""
    numbers = {name: 1 << 30 for name, hint in get_type_hints(kind).items() if hint is int}
    return replace(of_kind(kind, things, rng), **numbers)


def _near_list(
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
    yield tuple(rng.sample(things, min(len(things), len(value))))
    yield tuple(rng.choice(things) for _ in value)
    yield (*value[1:], rng.choice(things))
    yield (*value[1:], rng.choice(junk))
    yield (*value[1:], *value[1:])[: len(value)]


def of_kind(kind: Any, things: list[str], rng: random.Random) -> Action:
    """Return an action of a type with random content."""
    hints = get_type_hints(kind)
    return kind(**{name: _random_value(hint, things, rng) for name, hint in hints.items()})


def _random_value(hint: Any, things: list[str], rng: random.Random) -> Any:
    hint = _plain(hint)
    parts = get_args(hint)
    if get_origin(hint) is tuple and parts[1:] == (...,):
        sensible, _ = _elements(parts[0], things, rng)
        return tuple(rng.sample(sensible, rng.randint(0, min(5, len(sensible)))))
    if get_origin(hint) is tuple:
        return tuple(_random_value(part, things, rng) for part in parts)
    if get_origin(hint) in (Union, UnionType):
        part = rng.choice(parts)
        return None if part is type(None) else _random_value(part, things, rng)
    if get_origin(hint) is Literal:
        return rng.choice(parts)
    if is_dataclass(hint):
        return of_kind(hint, things, rng)
    if hint is bool:
        return rng.random() < 0.5
    if hint in (int, float):
        return hint(rng.randint(0, 12))
    return rng.choice(things)
