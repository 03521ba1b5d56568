"""A table of one person or agent: it waits for their choices and keeps its state.

The match is played in a thread, with a referee and bots in processes of their own.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from threading import Condition, Thread
from typing import Any, Final

from arena.config import Folder
from arena.errors import InfrastructureError
from arena.matches import local_match, local_records
from arena.matches.hints import Hint
from arena.matches.human_seats import (
    EndedGame,
    PersonLeft,
    PersonQuestion,
    QuestionWithdrawn,
    ended_game,
)
from arena.matches.local_match import LocalMatch
from arena.matches.typed_choice import RefusedChoice, typed
from arena.ratings.closed_match import PlayedGame
from referee.games.contract import Action

log = logging.getLogger("arena.tables")

ReadChoice = Callable[[PersonQuestion, str], Action | RefusedChoice]
"""Returns the legal action that a text names, or why it names none."""
_FAILED: Final = "The arena could not continue this match."


@dataclass(frozen=True, slots=True)
class TableState:
    """The content of the page of a table.

    Attributes:
        serial: the number of the state; a later one is larger.
        question: the open question; None while other seats decide, and after the end.
        shown: the open question or the last one; None before the first.
        seen: number of public actions of the game that the person saw at the last choice.
        refused: why the last choice was not played; None if it was.
        hint: the hint for the open question; None without one.
        deadline: end of the thinking time, in seconds since 1970; None without a limit.
        end: the end of the game; None while it is played.
        is_over: whether the match is over.
        has_left: whether the person has left, or the table was abandoned.
        failure: why the match failed; empty if it did not.
    """

    serial: int = 0
    question: PersonQuestion | None = None
    shown: PersonQuestion | None = None
    seen: int = 0
    refused: RefusedChoice | None = None
    hint: Hint | None = None
    deadline: float | None = None
    end: EndedGame | None = None
    is_over: bool = False
    has_left: bool = False
    failure: str = ""


def question_id(question: PersonQuestion) -> str:
    """Return the id of a question, which a choice names."""
    return f"{question.game}.{question.decision}"


class PlayTable:
    """A table with one person. Implements `arena.matches.human_seats.Person`. Thread-safe."""

    def __init__(
        self,
        match: LocalMatch,
        folder: Folder,
        client: str,
        changed: Callable[[str], None],
        form: Mapping[str, str],
    ) -> None:
        self.id = secrets.token_hex(16)
        self.match = match
        self.form = form
        """The form that began the match, which begins the next one."""
        self.client = client
        self.touched = time.monotonic()
        """When the person's browser sent its last request."""
        self._folder = folder
        self._changed = changed
        self._turn = Condition()
        self._state = TableState()
        self._action: Action | None = None
        self._thread = Thread(target=self._play, name=f"table-{match.spec.id}", daemon=True)

    @property
    def topic(self) -> str:
        """The topic of its changes."""
        return f"table:{self.id}"

    @property
    def state(self) -> TableState:
        """The present state."""
        return self._state

    @property
    def is_over(self) -> bool:
        """Whether the match is over."""
        return self._state.is_over

    @property
    def is_awaited(self) -> bool:
        """Whether it is the person's turn, or the match is over."""
        state = self._state
        return state.is_over or (state.question is not None and self._action is None)

    def start(self) -> None:
        """Begin the match."""
        self._thread.start()

    def touch(self) -> None:
        """Note a request of the person's browser."""
        self.touched = time.monotonic()

    def choose(self, named: str, text: str, read: ReadChoice = typed) -> RefusedChoice | None:
        """Play the chosen action of the open question, or return why it is not played.

        Args:
            named: the id of the question that was shown.
            text: the number of an action, a whole action, or words of one.
            read: finds the action that the text names.
        """
        with self._turn:
            question = self._state.question
            refused = None
            if question is None or self._action is not None or question_id(question) != named:
                refused = RefusedChoice("stale", "This choice was for an earlier position.")
            else:
                chosen = read(question, text)
                if isinstance(chosen, RefusedChoice):
                    refused = chosen
                else:
                    self._action = chosen
            self._change(refused=refused)
            return refused

    def show_hint(self, hint: Hint) -> None:
        """Show a hint if its question is still open."""
        with self._turn:
            question = self._state.question
            if question is not None and question_id(question) == hint.question:
                self._change(hint=hint)

    def delete_record(self) -> None:
        """Delete the record of a match that is over, and with it the person's name.

        Raises:
            OSError: the record cannot be deleted.
        """
        path = local_records.path_of(self._folder, self.match.spec.id)
        path.unlink(missing_ok=True)
        local_records.write_reasoning(path, ())

    def await_turn(self, seconds: float) -> None:
        """Wait until it is the person's turn or the match is over, at most for this time."""
        with self._turn:
            self._turn.wait_for(lambda: self.is_awaited, seconds)

    def leave(self) -> None:
        """End the match; its record ends with the last choice."""
        with self._turn:
            if not self.is_over:
                self._change(has_left=True)

    def join(self, seconds: float) -> None:
        """Wait for the end of the match and its record."""
        self._thread.join(seconds)

    def ask(self, question: PersonQuestion) -> Action:
        """Wait for a choice on the page.

        Raises:
            QuestionWithdrawn: `withdraw` was called for this question.
            PersonLeft: `leave` was called.
        """
        left = question.seconds_left
        with self._turn:
            self._action = None
            deadline = None if left is None else time.time() + left
            self._change(
                question=question, shown=question, refused=None, hint=None, deadline=deadline
            )
            self._turn.wait_for(
                lambda: (
                    self._action is not None
                    or self._state.has_left
                    or self._state.question is not question
                )
            )
            withdrawn, action = self._state.question is not question, self._action
            self._action = None
            self._change(question=None, deadline=None)
            if self._state.has_left:
                raise PersonLeft
            if withdrawn or action is None:
                raise QuestionWithdrawn
            self._state = replace(self._state, seen=len(question.history()))
            return action

    def withdraw(self, question: PersonQuestion) -> None:
        """End a question that does not need an answer any more."""
        with self._turn:
            if self._state.question is question and self._action is None:
                self._change(question=None)

    def _change(self, **values: Any) -> None:
        self._state = replace(self._state, serial=self._state.serial + 1, **values)
        self._turn.notify_all()
        self._changed(self.topic)

    def _play(self) -> None:
        failure = ""
        try:
            local_match.play(self.match, self._folder, self._finished, self)
        except InfrastructureError as error:
            log.warning("match %s of a person failed: %s", self.match.spec.id, error)
            reason, _, _ = str(error).partition("\n")
            failure = f"{_FAILED} {reason[:1].upper()}{reason[1:]}"
        except Exception:
            log.exception("match %s of a person failed", self.match.spec.id)
            failure = f"{_FAILED} It has an error; its log has the details for the organiser."
        try:
            if self.match.games:
                local_match.write_record(self.match, self._folder)
        except OSError as error:
            log.warning("the record of %s is not kept: %s", self.match.spec.id, error)
        with self._turn:
            self._change(question=None, is_over=True, failure=failure)

    def _finished(self, game: PlayedGame) -> None:
        end = ended_game(self.match.spec, self.match.bots, game)
        with self._turn:
            self._change(end=end)
        if self._state.has_left:
            raise PersonLeft
