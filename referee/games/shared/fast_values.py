"""Construct and copy frozen dataclasses quickly.

The ``__init__`` of a frozen dataclass calls ``object.__setattr__`` for every field, which takes
longer than the rules of most actions. :func:`fast_value` replaces it: a new instance changes its
class to a mutable *draft* with the same slots, its fields are assigned, and it changes its class
back. The value is frozen as before.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

T = TypeVar("T")

_KEEP = object()
"""Marks a field that a copy keeps."""


def fast_value(kind: type[T]) -> type[T]:
    """Decorate a dataclass with ``frozen=True, slots=True``: replace its ``__init__``.

    It pays off from three fields on. A ``but`` method of the class, which returns a copy with
    changed fields, is replaced as well. A subclass needs ``__slots__ = ()``.
    """
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    scope = {"draft": _draft(kind), "set_attribute": object.__setattr__}
    original: Any = kind.__init__
    made = _function("__init__", _init_source(names), scope)
    made.__defaults__ = original.__defaults__
    made.__annotations__ = original.__annotations__
    made.__doc__ = original.__doc__
    setattr(kind, "__init__", made)  # noqa: B010 - mypy refuses a plain assignment
    but = getattr(kind, "but", None)
    if but is not None:
        scope |= {"keep": _KEEP, "new": object.__new__}
        copy = _function("but", _copy_source(names), scope)
        copy.__doc__ = but.__doc__
        kind.but = copy  # type: ignore[attr-defined]
    return kind


def _draft(kind: type) -> type:
    """Return a mutable class with the slots of ``kind``.

    Python allows a change of class between two classes with the same bases and slots.
    """
    slots = {"__slots__": kind.__slots__, "__module__": kind.__module__}  # type: ignore[attr-defined]
    draft: Any = type(kind)(f"{kind.__name__}Draft", kind.__bases__, slots)
    draft.__abstractmethods__ = frozenset()
    return draft  # type: ignore[no-any-return]


def _init_source(names: list[str]) -> list[str]:
    return [
        f"def __init__(self, {', '.join(names)}):" if names else "def __init__(self):",
        "kind = self.__class__",
        "set_attribute(self, '__class__', draft)",
        *(f"self.{name} = {name}" for name in names),
        "self.__class__ = kind",
    ]


def _copy_source(names: list[str]) -> list[str]:
    parameters = ", ".join(f"{name}=keep" for name in names)
    return [
        f"def but(self, *, {parameters}):",
        "other = new(draft)",
        *(f"other.{name} = self.{name} if {name} is keep else {name}" for name in names),
        "other.__class__ = self.__class__",
        "return other",
    ]


def _function(name: str, lines: list[str], scope: dict[str, Any]) -> Callable[..., Any]:
    """Compile a function from its lines, as :mod:`dataclasses` does."""
    made: dict[str, Any] = {}
    exec("\n ".join(lines), scope, made)
    return made[name]  # type: ignore[no-any-return]
