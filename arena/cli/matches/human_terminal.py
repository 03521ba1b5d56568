"""Seat people at the terminal: show the position, offer the legal actions, read the choice."""

from __future__ import annotations

import contextlib
import select
import shutil
import socket
import sys
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from textwrap import wrap
from threading import Condition
from typing import TYPE_CHECKING, Final

from arena.cli import key_input, output
from arena.cli.errors import usage_error
from arena.cli.matches import story
from arena.cli.matches.action_menu import ActionMenu
from arena.matches.human_seats import (
    PersonLeft,
    PersonQuestion,
    QuestionWithdrawn,
    ended_game,
)
from arena.matches.typed_choice import exact_match, with_card_names
from arena.presentation.narration import outcome, result
from arena.tournaments.time_estimate import duration
from referee.numbering import game_text, seat_text
from referee.presentation import text
from referee.presentation.question_text import UNLISTED
from referee.sanitizing import sanitized

if TYPE_CHECKING:
    from arena.bots.bot import Bot
    from arena.ratings.closed_match import PlayedGame
    from arena.store.matches.spec import MatchSpec
    from referee.games.contract import Action
    from referee.presentation.elements import PublicAction

_FEWEST_ROWS: Final = 3
_MOST_ROWS: Final = 12
_KEYS: Final = (
    "Keys: words filter the actions, a number or the arrows select one, Enter chooses it. "
    "Tab: more actions. Esc: clear. =: whole table and all actions. Ctrl-C: end the match."
)
_LOG: Final = 6
"""Maximum number of other seats' actions above a position; `=` shows all of them."""
_MORE: Final = "Enter or space: more · q: back"
_ENTER: Final = ("\n", "\r")
_END: Final = "\x04"
"""Ctrl-D; Ctrl-C sends a signal."""


def expect_terminal() -> None:
    """Raise CommandError if a person cannot play here."""
    if not (output.is_terminal() and key_input.has_keys()):
        raise usage_error(
            "a person can play only in a terminal; this output or input is not one.", "no-terminal"
        )


@contextmanager
def opened(spec: MatchSpec, bots: Sequence[Bot]) -> Iterator[TerminalPerson]:
    """Yield the interface of the people of a match; keys are read unbuffered meanwhile."""
    wake_end, waker = socket.socketpair()
    with wake_end, waker, key_input.unbuffered() as descriptor:
        yield TerminalPerson(spec, bots, descriptor, wake_end, waker)


class TerminalPerson:
    """The people of a match at one terminal. Implements `arena.matches.human_seats.Person`.

    The terminal shows one question at a time. With several people, a blank screen hands the
    keyboard over.
    """

    def __init__(
        self,
        spec: MatchSpec,
        bots: Sequence[Bot],
        keys: int,
        wake_end: socket.socket,
        waker: socket.socket,
    ) -> None:
        self._spec = spec
        self._bots = bots
        self._several = sum(bot.person for bot in bots) > 1
        self._keys = keys
        self._wake_end = wake_end
        self._waker = waker
        self._free = Condition()
        """Held by the thread that uses the terminal."""
        self._pressed: deque[str] = deque()
        self._withdrawn: set[PersonQuestion] = set()
        self._finished = 0
        """Number of games whose result has been shown."""
        self._seen: Counter[tuple[str, int]] = Counter()
        """Number of public actions that a person has seen of a game."""
        self._last_person = ""
        self.has_left = False
        """Whether the people have ended the match."""

    def ask(self, question: PersonQuestion) -> Action:
        """Wait for the person's choice of a legal action.

        Raises:
            QuestionWithdrawn: `withdraw` was called for this question.
            PersonLeft: `leave` was called.
        """
        with self._free:
            # The result of the previous game is shown by another thread.
            self._free.wait_for(
                lambda: (
                    self._finished >= question.game or question in self._withdrawn or self.has_left
                )
            )
            try:
                self._hand_over(question)
                action = self._choose(question)
            except (QuestionWithdrawn, PersonLeft):
                print()  # the cursor is in the line of the menu
                raise
            self._seen[question.person, question.game] = len(question.history())
            return action

    def withdraw(self, question: PersonQuestion) -> None:
        """End a question that does not need an answer any more."""
        self._withdrawn.add(question)
        with contextlib.suppress(OSError):  # closed: the match is over
            self._waker.send(b"\n")
        # `ask` may hold the lock while it waits for a key; it is woken by the pipe.
        if self._free.acquire(blocking=False):
            self._free.notify_all()
            self._free.release()

    def leave(self) -> None:
        """End the match: the open question or the next one gets no answer."""
        self.has_left = True
        self._waker.send(b"\n")
        with self._free:
            self._free.notify_all()

    def finished(self, game: PlayedGame) -> None:
        """Show the end of a game, and wait for Enter if another one follows.

        Raises:
            PersonLeft: `leave` was called.
        """
        with self._free:
            if self.has_left:
                raise PersonLeft
            self._show_end(game)
            if game.game + 1 < self._spec.games and not game.faulted:
                output.hint("Enter: play the next game · Ctrl-C: end the match")
                while self._key() not in _ENTER:
                    pass
            self._finished += 1
            self._free.notify_all()

    def _hand_over(self, question: PersonQuestion) -> None:
        if not self._several or question.person == self._last_person:
            return
        self._last_person = question.person
        _clear()
        print("\x1b[3J", end="")  # the scrollback shows the other person's cards
        output.game_line(f"Pass the keyboard to {question.person} ({seat_text(question.seat)}).")
        output.hint("Enter: show the position")
        while self._key(question) not in _ENTER:
            pass

    def _choose(self, question: PersonQuestion) -> Action:
        menu = ActionMenu(question.choices())
        menu = self._show_position(question, menu)
        height = 0
        message = ""
        while True:
            height = _draw_menu(menu, message or _status(question, menu), bool(message), height)
            key = self._key(question)
            message = ""
            if key in ("?", "="):
                self._page(question, _rules(question) if key == "?" else _whole(question))
                menu, height = self._show_position(question, menu), 0
            elif key not in _ENTER:
                menu = menu.pressed(key)
            elif (action := _chosen(question, menu)) is not None:
                _erase(height)
                output.game_line(f"> {question.presentation.choice(action)}")
                output.hint("The other seats play.")
                return action
            else:
                message = _why_not(menu)

    def _show_position(self, question: PersonQuestion, menu: ActionMenu) -> ActionMenu:
        """Show the position; return the menu with the size that fits below it."""
        width, height = _size()
        left = question.seconds_left
        time_left = "" if left is None else f" · {duration(left)} left"
        seen = self._seen[question.person, question.game]
        shown = [
            f"{game_text(question.game)} · decision {question.decision + 1} · "
            f"{question.person}, {seat_text(question.seat)}{time_left}",
            *_log(question.history()[seen:], question.names),
        ]
        rendering = question.rendering()
        table = text.lines(rendering, width)
        if len(shown) + len(table) + _FEWEST_ROWS + 2 > height:
            table = text.lines(replace(rendering, below=()), width)
        _clear()
        for line in (*shown, *table):
            output.game_line(line)
        room = height - len(shown) - len(table) - 2
        rows = min(max(room, _FEWEST_ROWS), _MOST_ROWS, max(height - 3, 1))
        return replace(menu, width=width - 1, rows=rows, first=0, cursor=None)

    def _page(self, question: PersonQuestion, lines: Sequence[str]) -> None:
        """Show lines of text page by page."""
        at = 0
        while at < len(lines):
            rows = max(_size()[1] - 2, 1)
            _clear()
            for line in lines[at : at + rows]:
                output.game_line(line)
            output.hint(_MORE)
            if self._key(question) in ("q", "escape"):
                return
            at += rows

    def _show_end(self, played: PlayedGame) -> None:
        """Show the final position as the only person sees it, or as the public sees it."""
        end = ended_game(self._spec, self._bots, played)
        seen = self._seen[end.viewer, played.game] if end.viewer else len(end.history)
        _clear()
        verdict = [outcome(end.record, end.names.index(end.viewer))] if end.viewer else []
        for line in (
            f"{game_text(played.game)} · end",
            *_log(end.history[seen:], end.names),
            *text.lines(end.rendering, _size()[0]),
            *(f"! {clause}" for clause in story.faults(end.record)),
            *verdict,
            result(end.record),
        ):
            output.game_line(line)

    def _key(self, question: PersonQuestion | None = None) -> str:
        while not self._pressed:
            if self.has_left:
                raise PersonLeft
            if question in self._withdrawn:
                raise QuestionWithdrawn
            ready, _, _ = select.select([self._keys, self._wake_end.fileno()], [], [])
            if self._wake_end.fileno() in ready:
                self._wake_end.recv(512)
            if self._keys in ready:
                pressed = key_input.read_keys(self._keys)
                if not pressed or _END in pressed:
                    self.has_left = True
                    raise PersonLeft
                self._pressed.extend(key_input.split_keys(pressed))
        return self._pressed.popleft()


def _chosen(question: PersonQuestion, menu: ActionMenu) -> Action | None:
    """Return the action that Enter chooses: the one of the menu, or one typed in full.

    An unlisted action takes precedence over a listed one that contains its words, unless the arrows
    selected one.
    """
    if menu.cursor is None and exact_match(menu.actions, menu.typed) is None:
        whole = question.parse(with_card_names(menu.typed))
        if whole is not None:
            return whole
    return None if menu.chosen is None else question.actions[menu.chosen]


def _why_not(menu: ActionMenu) -> str:
    if menu.number is not None:
        return f"numbers are 1 to {len(menu.actions)}"
    if not menu.matches:
        return "no action matches; Esc clears what is typed"
    return f"{len(menu.matches)} actions match: type more words, or a number"


def _log(actions: Sequence[PublicAction], names: Sequence[str]) -> list[str]:
    lines = _action_lines(actions, names)
    left_out = len(lines) - _LOG
    return [f"  … {left_out} earlier actions", *lines[left_out:]] if left_out > 0 else lines


def _whole(question: PersonQuestion) -> list[str]:
    """Return the whole position with the score pads and all actions of the game."""
    lines = text.lines(question.rendering(), _size()[0])
    log = _action_lines(question.history(), question.names)
    return [*lines, "", "all actions of the game, the latest first", *reversed(log)]


def _action_lines(actions: Sequence[PublicAction], names: Sequence[str]) -> list[str]:
    widest = max(map(len, names))
    return [f"  {names[each.seat]:<{widest}}  {each.phrase}" for each in actions]


def _rules(question: PersonQuestion) -> list[str]:
    """Return the short rules and those that apply now as lines, with the keys."""
    from arena.cli.develop import rulebook

    numbers = question.presentation.rules_now(question.view)
    width = min(_size()[0], 100)
    short = question.presentation.short_rules.splitlines()
    return [
        *(part for line in short for part in wrap(line, width, subsequent_indent="  ")),
        "",
        *wrap(f"The rules that apply now; all: pokearena rules {question.rules.id}", width),
        *rulebook.applicable(question.rules, numbers, width),
        "",
        *wrap(_KEYS if question.complete else f"{_KEYS} {UNLISTED}", width),
    ]


def _status(question: PersonQuestion, menu: ActionMenu) -> str:
    """Return the number of actions and the keys."""
    filtered = f"{len(menu.matches)} of " if len(menu.matches) < len(menu.actions) else ""
    listed = "" if question.complete else " listed"
    hidden = f", {menu.hidden} hidden" if menu.hidden else ""
    keys = f"type, Enter{' · Tab more' if menu.hidden else ''} · ? help · = table"
    number = f"{len(menu.actions)} action{'s' * (len(menu.actions) != 1)}"
    return f"{filtered}{number}{listed}{hidden} · {keys}"


def _draw_menu(menu: ActionMenu, status: str, important: bool, drawn: int) -> int:
    """Draw the menu over the previous one, which has `lines` lines; return its number of lines."""
    from rich.text import Text

    _erase(drawn)
    console = output.screen()
    console.print(Text(_cut(status, menu.width), "bold" if important else "dim"))
    for cells in menu.lines:
        line = Text()
        for number, (cell, selected) in enumerate(cells):
            line.append("  " * (number > 0))
            shown = output.painted(sanitized(_cut(cell, menu.width)))
            if selected:
                shown.stylize("reverse")
            line.append_text(shown)
        console.print(line)
    console.print(Text(_cut(f"> {menu.typed}", menu.width)), end="")
    sys.stdout.flush()
    return len(menu.lines) + 2


def _erase(lines: int) -> None:
    """Erase the lines above the cursor, including its own."""
    if not lines:
        return
    if output.screen().is_dumb_terminal:
        print()
        return
    up = f"\x1b[{lines - 1}A" if lines > 1 else ""
    print(f"\r{up}\x1b[J", end="", flush=True)


def _clear() -> None:
    output.screen().clear()


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}…"


def _size() -> tuple[int, int]:
    """Return the width and the height of the terminal in characters."""
    size = shutil.get_terminal_size()
    return size.columns, size.lines
