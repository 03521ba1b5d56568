"""Explain a fault line of a record as text for the author of the bot. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from arena.bots.exit_report import MIB
from arena.presentation.narration import InvalidPosition, render_view
from arena.ratings.closed_match import FINISHED
from referee.games.registry import find_game
from referee.numbering import game_text, number_text, seat_text
from referee.presentation import text
from referee.record import GameRecord, Line, MatchRecord
from referee.replay import in_words
from referee.sanitizing import sanitized


@dataclass(frozen=True, slots=True)
class Explanation:
    """A fault of a recorded match.

    In a published record the owner's fields are missing (`arena.records.published_faults`).
    """

    record: MatchRecord
    game: GameRecord
    line: Line
    """The fault line."""

    @property
    def bot(self) -> str:
        """Name of the version that faulted."""
        return str(self.game.game["seating"][self.seat])

    @property
    def seat(self) -> int:
        """Number of the seat that faulted."""
        return int(self.line["seat"])

    @property
    def verdict(self) -> str:
        """Verdict of the fault, such as "timeout"."""
        return str(self.line["verdict"])

    @property
    def sentence(self) -> str:
        """Description of the fault, in one line."""
        return " ".join(sanitized(str(self.line["sentence"])).split())

    @property
    def where(self) -> str:
        """Game, table, board and decision of the fault, from 1, and its seat."""
        played, line = self.game.game, self.line
        table, board = number_text(played["table"]), number_text(played["board"])
        where = f"{game_text(line['game'])} (table {table}, board {board})"
        decision = (
            f", decision {number_text(line['decision'])}"
            if self.question
            else ", before its first decision"
        )
        return f"{where}{decision}, {seat_text(self.seat)}"

    @property
    def question(self) -> dict[str, Any] | None:
        """The question in the protocol's JSON; None if the bot received none."""
        return self.line.get("question")

    @property
    def asks(self) -> str | None:
        """MATCH:GAME:DECISION for `pokearena ask`; None if the bot received no question."""
        if self.question is None:
            return None
        return f"{self.record.match['match']}:{self.line['game']}:{self.line['decision']}"

    @property
    def position(self) -> tuple[str, ...]:
        """The seat's view as lines of text; empty if the bot received no question."""
        view = (self.question or {}).get("view")
        if not view:
            return ()
        match, seat = self.record.match, self.seat
        seating = self.game.game["seating"]
        try:
            rendering = render_view(
                match["game"], match["options"], view, seating, (seat,), eyes=seat
            )
        except (InvalidPosition, LookupError):
            # A file may contain anything, and its remaining fields must stay readable.
            return ()
        return text.lines(rendering)

    @property
    def legal(self) -> list[str]:
        """The listed legal actions as text."""
        return [self._words(action) for action in (self.question or {}).get("legal", [])]

    @property
    def answered(self) -> str:
        """The bot's answer as text; empty if no action arrived or it was too large to record."""
        answer = self.line.get("answer")
        return sanitized(self._words(answer)) if answer else ""

    def _words(self, action: dict[str, Any]) -> str:
        return in_words(find_game(self.record.match["game"]), action)

    @property
    def clock(self) -> str:
        """The time taken and the time available."""
        clock = self.line.get("clock")
        if clock is None:
            return "not recorded"
        if "allowance_ms" not in clock:
            return f"{clock['ms']:.1f} ms of the {clock['limit_ms']:.0f} ms it has to start"
        many = clock.get("questions", 1)
        of = f"for each of {many} questions in one message" if many > 1 else "for a decision"
        return (
            f"{clock['ms']:.1f} ms of {clock['limit_ms']:.0f} ms: {clock['allowance_ms']} ms {of} "
            f"and {clock['bank_ms']:.0f} ms that were left in its bank"
        )

    @property
    def process(self) -> str:
        """The fate of the bot's process, and its peak memory."""
        line = self.line
        peak = line.get("peak_memory")
        if not line.get("ended") and peak is None:
            return "not known"
        end = sanitized(line.get("ended") or "ran on")
        return end if peak is None else f"{end}; peak memory {peak / MIB:.1f} MiB"

    @property
    def output(self) -> str:
        """The end of the process output: at most 64 KB."""
        return sanitized(str(self._line_with_output.get("output", "")))

    @property
    def _line_with_output(self) -> Line:
        """The fault line with the output: one exited process can cause faults in many games."""
        number_of_output = self.line.get("output_in")
        if number_of_output is None:
            return self.line
        lines = (
            fault
            for game in self.record.games
            if game.number == number_of_output
            for fault in game.faults
        )
        return next((line for line in lines if line["seat"] == self.seat), self.line)

    def to_json(self) -> dict[str, Any]:
        line, played = self.line, self.game.game
        return {
            "match": self.record.match["match"],
            "game": line["game"],
            "table": played["table"],
            "board": played["board"],
            "decision": line["decision"],
            "seat": self.seat,
            "bot": self.bot,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "question": self.question,
            "position": list(self.position),
            "legal": self.legal,
            "answer": line.get("answer"),
            "answered": self.answered or None,
            "clock": line.get("clock"),
            "ended": line.get("ended"),
            "exit_status": line.get("exit_status"),
            "signal": line.get("signal"),
            "peak_memory": line.get("peak_memory"),
            "output": self.output,
            "asks": self.asks,
        }


@dataclass(frozen=True, slots=True)
class Aftermath:
    """Games that a bot lost because of an earlier fault: it had exited or was excluded."""

    bot: str
    verdict: str
    games: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        return {"bot": self.bot, "verdict": self.verdict, "games": list(self.games)}


def aftermath(record: MatchRecord) -> list[Aftermath]:
    """Return the games with an adverse verdict for a bot but without a fault of it, by bot."""
    games_by_verdict: dict[tuple[str, str], list[int]] = {}
    for game in record.games:
        faulty = {line["seat"] for line in game.faults}
        for seat, verdict in enumerate(game.result["verdicts"]):
            if verdict != FINISHED and seat not in faulty:
                games = games_by_verdict.setdefault(
                    (str(game.game["seating"][seat]), str(verdict)), []
                )
                games += [game.number] if game.number not in games else []
    return [Aftermath(*key, tuple(games)) for key, games in games_by_verdict.items()]


def explanations(record: MatchRecord) -> Iterator[Explanation]:
    """Yield all faults of a match, in their order."""
    for game in record.games:
        for line in game.faults:
            yield Explanation(record, game, line)
