"""A fault explained: what its line in the record says, in words for the author of the bot. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from arena.bots.exit_report import MIB
from arena.presentation import text
from arena.presentation.live_position import NoPosition, live
from arena.ratings.closed_match import FINISHED
from referee.games.registry import find
from referee.record import GameRecord, Line, MatchRecord
from referee.replay import in_words
from referee.sanitizing import sanitized


@dataclass(frozen=True, slots=True)
class Explanation:
    """A fault of a recorded match.

    What strangers may not see (`arena.records.redaction`) is missing where the record was
    published.
    """

    record: MatchRecord
    game: GameRecord
    line: Line
    """The fault line."""

    @property
    def bot(self) -> str:
        """Whose fault it is."""
        return str(self.game.game["seating"][self.seat])

    @property
    def seat(self) -> int:
        """Where it sat."""
        return int(self.line["seat"])

    @property
    def verdict(self) -> str:
        """The word for it."""
        return str(self.line["verdict"])

    @property
    def sentence(self) -> str:
        """What happened, in one line."""
        return " ".join(sanitized(str(self.line["sentence"])).split())

    @property
    def where(self) -> str:
        """The place of it in the match."""
        played, line = self.game.game, self.line
        where = f"game {line['game']} (table {played['table']}, board {played['board']})"
        asked = f", decision {line['decision']}" if self.question else ", before its first decision"
        return f"{where}{asked}, seat {self.seat}"

    @property
    def question(self) -> dict[str, Any] | None:
        """What it was asked, as the protocol's JSON; None if it was not asked anything."""
        return self.line.get("question")

    @property
    def asks(self) -> str | None:
        """MATCH:GAME:DECISION, to be asked again; None if it was not asked anything."""
        if self.question is None:
            return None
        return f"{self.record.match['match']}:{self.line['game']}:{self.line['decision']}"

    @property
    def position(self) -> tuple[str, ...]:
        """What its seat saw, as lines of text; none if it was not asked anything."""
        view = (self.question or {}).get("view")
        if not view:
            return ()
        match, seat = self.record.match, self.seat
        seating = self.game.game["seating"]
        try:
            scene = live(match["game"], match["options"], view, seating, (seat,), eyes=seat)
        except (NoPosition, LookupError):
            # A file may hold anything, and the rest of it is to be read all the same.
            return ()
        return text.lines(scene)

    @property
    def legal(self) -> list[str]:
        """The actions that were listed as legal, in words."""
        return [self._words(action) for action in (self.question or {}).get("legal", [])]

    @property
    def answered(self) -> str:
        """What it answered, in words; empty if no action came, or one too large to be kept."""
        answer = self.line.get("answer")
        return sanitized(self._words(answer)) if answer else ""

    def _words(self, action: dict[str, Any]) -> str:
        return in_words(find(self.record.match["game"]), action)

    @property
    def clock(self) -> str:
        """How long it took, and what it had."""
        clock = self.line.get("clock")
        if clock is None:
            return _had((self.question or {}).get("clock"))
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
        """What became of its process, and how large it was."""
        line = self.line
        held = line.get("peak_memory")
        if not line.get("ended") and held is None:
            return "not known"
        became = sanitized(line.get("ended") or "ran on")
        return became if held is None else f"{became}; peak memory {held / MIB:.1f} MiB"

    @property
    def output(self) -> str:
        """The end of what it wrote: 64 KB at the most."""
        return sanitized(str(self._first.get("output", "")))

    @property
    def _first(self) -> Line:
        """The fault line that has the output: one lost process can be the fault of many games."""
        there = self.line.get("output_in")
        if there is None:
            return self.line
        lines = (
            fault for game in self.record.games if game.number == there for fault in game.faults
        )
        return next((line for line in lines if line["seat"] == self.seat), self.line)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
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
    """Games that a bot lost because of faults in others: its process was gone, or it was out."""

    bot: str
    verdict: str
    games: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """It as plain values."""
        return {"bot": self.bot, "verdict": self.verdict, "games": list(self.games)}


def aftermath(record: MatchRecord) -> list[Aftermath]:
    """The games that ended for a bot with a verdict and no fault of its own in them."""
    found: dict[tuple[str, str], list[int]] = {}
    for game in record.games:
        faulty = {line["seat"] for line in game.faults}
        for seat, verdict in enumerate(game.result["verdicts"]):
            if verdict != FINISHED and seat not in faulty:
                games = found.setdefault((str(game.game["seating"][seat]), str(verdict)), [])
                games += [game.number] if game.number not in games else []
    return [Aftermath(*key, tuple(games)) for key, games in found.items()]


def explanations(record: MatchRecord) -> Iterator[Explanation]:
    """All faults of a match, in their order."""
    for game in record.games:
        for line in game.faults:
            yield Explanation(record, game, line)


def _had(clock: dict[str, int] | None) -> str:
    """What a record of an older arena says of a clock: what there was, not what it took."""
    if clock is None:
        return "not kept"
    allowance, bank = clock.get("allowanceMs", 0), clock.get("bankMs", 0)
    return f"{allowance} ms for a decision and {bank} ms in its bank; what it took was not kept"
