"""The menu of legal actions at a person's turn: its state, and the effect of keys on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from arena.matches.typed_choice import exact_match, matching, number_of

_GAP: Final = 2
"""Blanks between two columns."""


@dataclass(frozen=True)
class ActionMenu:
    """Numbered actions in columns, filtered by the words typed.

    Attributes:
        actions: the actions as text, in the listed order; the first one has the number 1.
        width: the width of the menu in characters.
        rows: the number of lines of actions.
        typed: the input so far: words that filter, or a number.
        cursor: index of the selected action among the matches; None if none is selected.
        first: index of the first visible action among the matches.
    """

    actions: tuple[str, ...]
    width: int = 80
    rows: int = 8
    typed: str = ""
    cursor: int | None = None
    first: int = 0

    @property
    def number(self) -> int | None:
        """The number typed; None if something else is typed."""
        return number_of(self.typed)

    @cached_property
    def matches(self) -> tuple[int, ...]:
        """The indices of the actions that match the words typed; all of them for a number."""
        return matching(self.actions, self.typed)

    @property
    def chosen(self) -> int | None:
        """The index of the action that Enter chooses; None if the choice is not unique."""
        if self.number is not None:
            return self.number - 1 if 0 < self.number <= len(self.actions) else None
        if self.cursor is not None and self.cursor < len(self.matches):
            return self.matches[self.cursor]
        exact = exact_match(self.actions, self.typed)
        if exact is not None:
            return exact
        return self.matches[0] if len(self.matches) == 1 else None

    @property
    def lines(self) -> list[list[tuple[str, bool]]]:
        """The visible lines, each as cells of equal width; True marks the selected action."""
        shown = self.matches[self.first : self.first + self._capacity]
        chosen = None if self.cursor is None and self.number is None else self.chosen
        cells = [(self._cell(n).ljust(self._cell_width), n == chosen) for n in shown]
        return [cells[at : at + self._columns] for at in range(0, len(cells), self._columns)]

    @property
    def hidden(self) -> int:
        """The number of matches that are on other pages."""
        return max(len(self.matches) - self._capacity, 0)

    def pressed(self, key: str) -> ActionMenu:
        """Return the menu after a key."""
        if key == "escape":
            return self._typed("")
        if key in ("\x7f", "\b"):
            return self._typed(self.typed[:-1])
        if len(key) == 1 and key.isprintable():
            return self._typed(self.typed + key)
        steps = {"up": -self._columns, "down": self._columns, "left": -1, "right": 1}
        if key in steps and self.matches:
            return self._at(0 if self.cursor is None else self.cursor + steps[key])
        if key in ("\t", "page down"):
            after = self.first + self._capacity
            return replace(self, first=after if after < len(self.matches) else 0, cursor=None)
        if key == "page up":
            return replace(self, first=max(self.first - self._capacity, 0), cursor=None)
        return self

    def _typed(self, text: str) -> ActionMenu:
        menu = replace(self, typed=text, cursor=None, first=0)
        if menu.number is None or menu.chosen is None:
            return menu
        return menu._page_of(menu.chosen)

    def _at(self, cursor: int) -> ActionMenu:
        cursor = min(max(cursor, 0), len(self.matches) - 1)
        # A number would take precedence over the selection.
        typed = "" if self.number is not None else self.typed
        return replace(self, typed=typed, cursor=cursor)._page_of(cursor)

    def _page_of(self, index: int) -> ActionMenu:
        return replace(self, first=index - index % self._capacity)

    def _cell(self, number: int) -> str:
        digits = len(str(len(self.actions)))
        return f"{number + 1:>{digits}} {self.actions[number]}"

    @cached_property
    def _cell_width(self) -> int:
        widest = max((len(self._cell(number)) for number in self.matches), default=1)
        return min(widest, self.width)

    @property
    def _columns(self) -> int:
        return max((self.width + _GAP) // (self._cell_width + _GAP), 1)

    @property
    def _capacity(self) -> int:
        return self.rows * self._columns
