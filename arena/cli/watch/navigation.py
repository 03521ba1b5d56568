"""Navigation state of `watch`, and the effect of keys on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

_STEPS = {"up": -1, "k": -1, "down": 1, "j": 1}
_OPEN = ("\n", "\r", "right", "l")
_BACK = ("escape", "left", "h", "\x7f")
_TURN = {"[": -1, "]": 1, "\t": 1}
_SELECT_KEYS = "↑↓ choose · enter open"


class ViewKind(StrEnum):
    """The kind of a view."""

    LADDER = "ladder"
    MATRIX = "matrix"
    BOT = "bot"
    MATCH = "match"


@dataclass(frozen=True, slots=True)
class View:
    """A page, the selected row, and the search text of a ladder."""

    kind: ViewKind
    value: str
    """The form, the bot's name, or the match's id."""
    row: int = 0
    find: str = ""


_KEYS = {
    ViewKind.LADDER: "m crosstable · [ ] other ladder · / find",
    ViewKind.MATRIX: "[ ] other ladder",
}


def keys_of(view: View, rows: int) -> str:
    """Return the keys that have an effect on a view with this number of selectable rows."""
    keys = (_SELECT_KEYS if rows else "", _KEYS.get(view.kind, ""), "esc back", "q quit")
    return " · ".join(filter(None, keys))


@dataclass(frozen=True, slots=True)
class Navigation:
    """The history of views, of which the last one is visible, until the user has quit."""

    views: tuple[View, ...]
    typing: str | None = None
    """The search text being typed; None outside the search prompt."""
    over: bool = False

    @property
    def view(self) -> View:
        """The visible view."""
        return self.views[-1]

    def at(self, view: View) -> Navigation:
        """Return a copy with the visible view replaced."""
        return replace(self, views=(*self.views[:-1], view))


def pressed(
    navigation: Navigation, key: str, rows: Sequence[View | None], forms: Sequence[str]
) -> Navigation:
    """Return the state after a key: a letter, or a name such as "up" or "escape".

    `rows` has the view opened by each selectable row, `forms` the existing ladders.
    """
    if navigation.typing is not None:
        return _typed(navigation, navigation.typing, key)
    view = navigation.view
    last = max(len(rows) - 1, 0)
    row = min(view.row, last)
    if key == "q":
        return replace(navigation, over=True)
    if key in _STEPS:
        return navigation.at(replace(view, row=min(max(row + _STEPS[key], 0), last)))
    if key in _OPEN and row < len(rows) and (chosen := rows[row]) is not None:
        return replace(navigation, views=(*navigation.views, chosen))
    if key in _BACK:
        return _back(navigation)
    if key == "m" and view.kind is ViewKind.LADDER:
        return replace(navigation, views=(*navigation.views, View(ViewKind.MATRIX, view.value)))
    if key == "/" and view.kind is ViewKind.LADDER:
        return replace(navigation, typing=view.find)
    if key in _TURN and view.kind in (ViewKind.LADDER, ViewKind.MATRIX) and view.value in forms:
        at = (forms.index(view.value) + _TURN[key]) % len(forms)
        return navigation.at(View(view.kind, forms[at]))
    return navigation


def _back(navigation: Navigation) -> Navigation:
    if len(navigation.views) > 1:
        return replace(navigation, views=navigation.views[:-1])
    return navigation.at(replace(navigation.view, find=""))


def _typed(navigation: Navigation, text: str, key: str) -> Navigation:
    if key in ("\n", "\r"):
        return replace(navigation.at(replace(navigation.view, find=text, row=0)), typing=None)
    if key == "escape":
        return replace(navigation, typing=None)
    if key == "\x7f":
        return replace(navigation, typing=text[:-1])
    return (
        replace(navigation, typing=text + key)
        if len(key) == 1 and key.isprintable()
        else navigation
    )
