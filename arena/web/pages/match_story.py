"""The story of a closed match: who won, why, and where to look. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from arena.presentation import wording
from arena.ratings.call_figures import CallFigures
from arena.ratings.closed_match import FINISHED, PlayedFault, PlayedGame
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.lead_changes import LeadChange, lead_changes
from arena.records.analysis import summary
from arena.records.analysis.swings import Swing
from arena.records.decision_times import Decision
from referee.numbering import decision_text, game_text

_MOST_LEAD_CHANGES = 5


class Reason(StrEnum):
    """Why a match ended as it did."""

    FAULTS = "faults"
    LUCK = "luck"
    MISTAKE = "mistake"
    SWING = "swing"
    LEAD = "lead"
    LEVEL = "level"
    """The first place is shared."""


@dataclass(frozen=True, slots=True)
class KeyMoment:
    """A moment that decided something.

    Args:
        entrant: the entrant that it is about.
        clause: the event, as a clause that follows the name of the entrant.
        decision: the decision; None for the whole game.
    """

    game: int
    entrant: str
    clause: str
    decision: int | None = None

    @property
    def where(self) -> str:
        """Its place as people count it: "game 1, decision 5"."""
        if self.decision is None:
            return game_text(self.game)
        return decision_text(self.game, self.decision)

    def to_json(self) -> dict[str, Any]:
        return {"game": self.game, "decision": self.decision, "entrant": self.entrant}


@dataclass(frozen=True, slots=True)
class MatchStory:
    """The story of a match.

    Args:
        winners: the entrants with the first place.
        margin: by how much they have it, as a clause that follows their names.
        decisive: the decisive moment; its clause is the explanation.
        turning_points: further moments, in their order.
    """

    winners: tuple[str, ...]
    margin: str
    reason: Reason
    decisive: KeyMoment
    turning_points: tuple[KeyMoment, ...]

    @property
    def is_analysed(self) -> bool:
        """Whether the turning points are from an analysis."""
        return any(moment.decision is not None for moment in self.turning_points)

    def to_json(self) -> dict[str, Any]:
        return {
            "winners": list(self.winners),
            "reason": str(self.reason),
            "decisive": self.decisive.to_json(),
            "turning_points": [moment.to_json() for moment in self.turning_points],
        }


@dataclass(frozen=True, slots=True)
class MatchEvidence:
    """Results, faults and analysis of a closed match, from which its story follows.

    Args:
        entrants: the versions, in the order of the match.
        games: the games, at least one, in their order.
        analysis: the stored analysis; None without one.
        swings: the largest swings of the analysis, with the entrant of each.
        actions: the entrant and the phrase of decisions of these games, by (game, decision).
        phrase: returns a described action in the words of a replay.
    """

    entrants: Sequence[str]
    sides: Sequence[EntrantResult]
    games: Sequence[PlayedGame]
    faults: Sequence[PlayedFault] = ()
    analysis: Mapping[str, Any] | None = None
    swings: Sequence[tuple[Swing, str]] = ()
    actions: Mapping[tuple[int, int], tuple[str, str]] = field(default_factory=dict)
    phrase: Callable[[str], str] = str

    @property
    def first(self) -> EntrantResult | None:
        """The winner; None if the first place is shared."""
        ahead = [side for side in self.sides if side.ahead]
        return ahead[0] if len(ahead) == 1 else None


def match_story(evidence: MatchEvidence) -> MatchStory:
    """Return the story of a closed match."""
    changes = lead_changes(evidence.games)
    reason, decisive = _decisive_moment(evidence, changes)
    return MatchStory(
        winners=tuple(side.name for side in evidence.sides if side.ahead),
        margin=_margin(evidence),
        reason=reason,
        decisive=decisive,
        turning_points=_turning_points(evidence, changes),
    )


def _margin(evidence: MatchEvidence) -> str:
    """Return by how much the first place was won."""
    first, games = evidence.first, len(evidence.games)
    if first is None and len(evidence.sides) == 2:
        side = evidence.sides[0]
        if not side.wins:
            return f"drew {_games(side.draws)}"
        return f"won {_games(side.wins)} each{_drawn(side)}"
    if first is None:
        share = _percent(max(side.share for side in evidence.sides), 1)
        return f"share the first place with a score of {share} each"
    if len(evidence.sides) > 2:
        share = _percent(first.share, 1)
        return f"won with a score of {share}, first in {first.wins} of {games} games"
    return f"won {_games(first.wins)} to {first.losses}{_drawn(first)}"


def _percent(share: float, digits: int = 0) -> str:
    """Format a share in one piece: no line ends before its sign."""
    return wording.percent(share, digits).replace(" ", "\N{NO-BREAK SPACE}")


def _drawn(side: EntrantResult) -> str:
    return f", {side.draws} drawn" if side.draws else ""


def _games(number: int) -> str:
    return f"{number} game{'s' if number != 1 else ''}"


def _decisive_moment(
    evidence: MatchEvidence, changes: Sequence[LeadChange]
) -> tuple[Reason, KeyMoment]:
    """Return the best explanation of a result: faults, then the analysis, then the scores."""
    first = evidence.first
    if first is None:
        return Reason.LEVEL, _levelled(evidence, changes)
    return (
        _lost_by_faults(evidence, first)
        or _luck_or_mistake(evidence, first)
        or (Reason.LEAD, _lead(evidence, first, changes))
    )


def _lost_by_faults(
    evidence: MatchEvidence, first: EntrantResult
) -> tuple[Reason, KeyMoment] | None:
    """Return the first fault of the entrant whose faults lost at least half of its lost games."""
    lost = {
        side.name: [
            game.verdicts[at]
            for game in evidence.games
            if game.verdicts[at] != FINISHED and game.places[at] > 1
        ]
        for at, side in enumerate(evidence.sides)
        if side is not first
    }
    worst = max(
        (side for side in evidence.sides if side is not first),
        key=lambda side: len(lost[side.name]),
    )
    by_faults = len(lost[worst.name])
    fault = next((each for each in evidence.faults if each.version == worst.name), None)
    if fault is None or 2 * by_faults < max(worst.losses, 1):
        return None
    # One fault can end several games.
    seen = Counter(each.verdict for each in evidence.faults if each.version == worst.name)
    kinds = Counter(lost[worst.name]).most_common()
    causes = ", ".join(wording.fault_count(kind, seen[kind] or games) for kind, games in kinds)
    of = "" if by_faults == worst.losses else f" of its {worst.losses} lost"
    clause = f"lost {by_faults}{of} game{'s' if worst.losses != 1 else ''} by {causes}"
    return Reason.FAULTS, KeyMoment(fault.game, worst.name, clause, fault.decision)


def _luck_or_mistake(
    evidence: MatchEvidence, first: EntrantResult
) -> tuple[Reason, KeyMoment] | None:
    """Return the explanation of an analysis: luck, else the costliest decision, else a swing."""
    analysis = evidence.analysis
    if analysis is None:
        return None
    at = list(evidence.entrants).index(first.name)
    luck, lead = analysis["luck"][at], (first.share - 0.5) * len(evidence.games)
    swing = _largest_swing(evidence, first)
    if swing and luck["mean"] - summary.INTERVAL * luck["error"] > 0 and luck["mean"] >= lead:
        clause = (
            f"had the luck of the cards, worth {luck['mean']:.1f} games to it: as much as its lead"
        )
        return Reason.LUCK, KeyMoment(swing.game, first.name, clause, swing.decision)
    for row in analysis["costliest"]:
        name = evidence.entrants[row["entrant"]]
        if name != first.name:
            return Reason.MISTAKE, _mistake(evidence, row, name)
    return (Reason.SWING, swing) if swing else None


def _mistake(evidence: MatchEvidence, row: Mapping[str, Any], name: str) -> KeyMoment:
    played, choice = map(evidence.phrase, (row["played"], row["choice"]))
    clause = (
        f"made its costliest decision in {game_text(row['game'])}: from what it knew, a bot that "
        f"{choice} has a win expectation of {_percent(row['before'])}; it {played} "
        f"and has {_percent(row['after'])}"
    )
    return KeyMoment(row["game"], name, clause, row["decision"])


def _largest_swing(evidence: MatchEvidence, first: EntrantResult) -> KeyMoment | None:
    """Return the largest swing in favour of the winner."""
    swings = [
        (swing, name)
        for swing, name in evidence.swings
        if (swing.after > swing.before) == (name == first.name)
    ]
    if not swings:
        return None
    swing, name = max(swings, key=lambda each: each[0].size)
    turned = "rise" if swing.after > swing.before else "fall"
    course = f"from {_percent(swing.before)} to {_percent(swing.after)}"
    clause = f"saw its win expectation {turned} {course} in {game_text(swing.game)}"
    return KeyMoment(swing.game, name, clause, _turning_decision(evidence, swing))


def _is_by_luck(evidence: MatchEvidence, swing: Swing) -> bool:
    """Return whether luck, such as drawn cards, made at least half of a change."""
    luck = sum(
        event["luck"][swing.seat][0]
        for event in (evidence.analysis or {}).get("chance", ())
        if event["game"] == swing.game and swing.since < event["decision"] <= swing.decision
    )
    change = swing.after - swing.before
    return bool(2 * luck / change >= 1)


def _turning_decision(evidence: MatchEvidence, swing: Swing) -> int:
    """Return the decision that turned a game, or that luck followed, such as the drawn cards."""
    return max(swing.decision - 1, 0) if _is_by_luck(evidence, swing) else swing.since


def _lead(
    evidence: MatchEvidence, first: EntrantResult, changes: Sequence[LeadChange]
) -> KeyMoment:
    """Return the game in which the winner took the lead for good, or its clearest one."""
    at = list(evidence.entrants).index(first.name)
    if len(changes) > 1:
        game = changes[-1].game
        clause = f"took the lead for good in {game_text(game.game)}{_score(game, at)}"
        return KeyMoment(game.game, first.name, clause)
    won = [game for game in evidence.games if game.is_won(at)] or list(evidence.games)
    clearest = max(won, key=lambda game: (_distance(game, at), -game.game))
    clause = f"was never behind; its clearest game was {game_text(clearest.game)}"
    return KeyMoment(clearest.game, first.name, clause + _score(clearest, at))


def _levelled(evidence: MatchEvidence, changes: Sequence[LeadChange]) -> KeyMoment:
    """Return the last game that another entrant than the last leader won."""
    leader = changes[-1].entrant if changes else None
    for game in reversed(evidence.games):
        for at, name in enumerate(evidence.entrants):
            if game.is_won(at) and at != leader and evidence.sides[at].ahead:
                clause = f"drew level in {game_text(game.game)}{_score(game, at)}"
                return KeyMoment(game.game, name, clause)
    return KeyMoment(evidence.games[-1].game, evidence.entrants[0], "was never ahead or behind")


def _distance(game: PlayedGame, at: int) -> int:
    """Return how far an entrant is ahead of the best other one, in points."""
    if game.scores is None:
        return 0
    return game.scores[at] - max(score for n, score in enumerate(game.scores) if n != at)


def _score(game: PlayedGame, at: int) -> str:
    """Return the points of a game as a clause, those of the entrant first; empty without any."""
    if game.scores is None:
        return ""
    points = list(map(wording.whole, game.scores))
    of_entrant = points.pop(at)
    return f", with {of_entrant} points to {' and '.join(points)}"


def _turning_points(
    evidence: MatchEvidence, changes: Sequence[LeadChange]
) -> tuple[KeyMoment, ...]:
    """Return the swings of the analysis, or else the last changes of the lead."""
    if evidence.swings:
        return tuple(_swing(evidence, swing, name) for swing, name in evidence.swings)
    return tuple(
        KeyMoment(
            change.game.game,
            evidence.entrants[change.entrant],
            f"took the lead{_score(change.game, change.entrant)}",
        )
        for change in changes[1:][-_MOST_LEAD_CHANGES:]
    )


def _swing(evidence: MatchEvidence, swing: Swing, name: str) -> KeyMoment:
    is_by_luck = _is_by_luck(evidence, swing)
    decisions = range(swing.decision - 1 if is_by_luck else swing.since, swing.decision)
    acts = [act for each in decisions if (act := evidence.actions.get((swing.game, each)))]
    chosen = " and ".join(f"{'it' if who == name else who} {act}" for who, act in acts[:2])
    clause = f"{_percent(swing.before)}\N{NO-BREAK SPACE}→ {_percent(swing.after)}"
    clause += ", by luck" if is_by_luck else ""
    if chosen:
        clause += f", as {chosen}"
    return KeyMoment(swing.game, name, clause, _turning_decision(evidence, swing))


@dataclass(frozen=True, slots=True)
class EntrantResult:
    """Results of one entrant in a closed match.

    Args:
        wins: games it won alone.
        draws: games in which it shared the first place.
        losses: other games.
        share: mean score against the others, from 0 to 1.
        ahead: whether its share is the highest or equal to it.
        faults: games that ended with a fault of this entrant.
        longest: the slowest decision; None if unknown.
        corrections: answers that it corrected.
        defaults: default actions that it played.
        usage: its calls of models, as measured; None without any.
    """

    name: str
    wins: int
    draws: int
    losses: int
    points: int
    boards: int
    share: float
    ahead: bool
    faults: int
    thinking: DecisionHistogram
    longest: Decision | None
    corrections: int = 0
    defaults: int = 0
    usage: CallFigures | None = None

    def quantile(self, share: float) -> float | None:
        """Return a quantile of the decision times in milliseconds, accurate to about 9 %.

        The result is at most the time of the slowest decision.
        """
        bin_ms = self.thinking.quantile(share)
        return bin_ms if bin_ms is None or self.longest is None else min(bin_ms, self.longest.ms)

    @property
    def slowest(self) -> float | None:
        """Longest decision time in ms; accurate to about 9 % if the decision itself is unknown."""
        return self.quantile(1.0) if self.longest is None else self.longest.ms

    def to_json(self, match: str) -> dict[str, Any]:
        """Return the results as JSON values.

        Args:
            match: the match ID, for the address of the slowest decision.
        """
        return {
            "entrant": self.name,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "points": self.points,
            "score": round(self.share, 6),
            "faults": self.faults,
            "corrections": self.corrections,
            "defaults": self.defaults,
            "decisions": self.thinking.decisions,
            "p50_ms": self.quantile(0.5),
            "p95_ms": self.quantile(0.95),
            "p99_ms": self.quantile(0.99),
            "slowest_ms": self.slowest,
            "measured_usage": self.usage and asdict(self.usage),
            "slowest": None if self.longest is None else self.longest.to_json(match),
        }
