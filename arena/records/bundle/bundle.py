"""A bundle: a tournament, its schedule, records and standings; its changes and its decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any, TypeAlias

from msgspec import Meta

from arena.formats.contract import (
    FormatEntrant,
    FormatOver,
    PairingStrengths,
    Step,
    place_of,
)
from arena.ladders import ladder_columns
from arena.ratings.elo import EloSettings
from arena.ratings.standings import Standings
from arena.records.published_faults import public_record
from arena.store.match_settings import TournamentPlan
from arena.store.matches.spec import Entrant as Seated
from arena.store.matches.spec import MatchSpec
from arena.store.schema import MatchState
from arena.store.tournaments.tournaments import Tournament
from referee.games.shared.coded_errors import InvalidValue

FORMAT = 1
Count: TypeAlias = Annotated[int, Meta(ge=0, description="a whole number of at least 0")]
OPEN = (MatchState.PENDING, MatchState.RUNNING)
_LINE = (
    *("entrant", "ranks", "strength", "interval", "error", "matches", "opponents", "provisional"),
    *("anchored", "group", "elo", "games", "wins", "draws", "losses", "points"),
    *("points_per_board", "mean", "faults", "forfeits"),
)
"""Values of a line. Further columns do not change the format, whose files are compared exactly."""
_OF_STRENGTHS = ("groups", "lack_of_fit", "unfitted")
_OF_STRENGTH = ("ranks", "strength", "interval", "error", "provisional", "anchored", "group")
"""Values of the document, and of a line, that follow from strengths."""


class BundleError(InvalidValue):
    """The data is not a valid bundle. The text is a user-facing sentence."""


@dataclass(frozen=True, slots=True)
class BundledVersion:
    """The content of an entrant's version.

    Attributes:
        content_hash: hash of its files or of its address.
        remote: whether it is a remote bot.
    """

    content_hash: str
    remote: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """A match as listed in the schedule.

    Attributes:
        key: hash of its contents (arena.store.ids).
        round: number of its round.
        why: the format's reason for the pairing.
        reason: the reason why it has no result, or the last failure of the arena during play.
        attempts: number of attempts to play it.
        closed, voided: the events (`arena.store.closings`) that closed and voided it; only stated
            of matches that are paired from strengths.
        forfeited_by: the entrant that loses the void match by an organiser's decision.
    """

    match: str
    key: str
    round: Count
    number: Count
    why: str
    entrants: tuple[str, ...]
    commitment: str
    state: MatchState
    reason: str | None = None
    attempts: Count
    closed: Count | None = None
    voided: Count | None = None
    forfeited_by: str | None = None

    def counted_at(self, seq: int) -> bool:
        """Return whether its result counted after an event."""
        is_void = self.voided is not None and self.voided <= seq
        return self.closed is not None and self.closed <= seq and not is_void

    @property
    def place(self) -> tuple[int, int]:
        """Its round, and the number within it that it shares with its replays."""
        return place_of(self.round, self.number)

    @property
    def over(self) -> bool:
        """Whether the match is finished, void or cancelled."""
        return self.state not in OPEN

    @property
    def words(self) -> str:
        """Description for messages: its id, round and number."""
        return f"{self.match} (round {self.round}, match {self.number})"


@dataclass(frozen=True, slots=True)
class Bundle:
    """A snapshot of a tournament.

    Attributes:
        versions: content of the entrants, by name.
        matches: the schedule in canonical order.
        records: text of the record of every match that is over, by match id, read on access.
        standings: the standings document (arena.records.bundle.bundle); None if it is missing.
        strengths: the strengths from which the rounds of a ladder were paired, by round.
    """

    tournament: Tournament
    versions: Mapping[str, BundledVersion]
    matches: tuple[Scheduled, ...]
    records: Mapping[str, str] = field(repr=False)
    standings: Mapping[str, Any] | None
    strengths: Mapping[int, PairingStrengths] = field(default_factory=dict)

    @property
    def entries(self) -> tuple[FormatEntrant, ...]:
        """The entrants, in the order of their seeds."""
        return self.tournament.entries

    def spec(self, match: Scheduled) -> MatchSpec:
        """Return the specification of a match, with an empty seed because the seed is unknown.

        Raises:
            KeyError: an entrant is not among those of the tournament.
        """
        return MatchSpec(
            **self.tournament.plan.values(),
            id=match.match,
            tournament=self.tournament.id,
            round=match.round,
            number=match.number,
            entrants=tuple(self._seated(name) for name in match.entrants),
            commitment=match.commitment,
            seed=b"",
        )

    def _seated(self, name: str) -> Seated:
        version = self.versions[name]
        # The folder is not published; a non-empty value marks a hosted version.
        return Seated(name, version.content_hash, "" if version.remote else "files", {})


def changes(earlier: Bundle, later: Bundle) -> Iterator[str]:
    """Yield a sentence for each fact of the earlier bundle that has changed.

    Facts published during a tournament must not change. Meanwhile, matches may have been added,
    played and closed, and entrants may have joined or left.
    """
    if earlier.tournament.id != later.tournament.id:
        yield f"the earlier bundle contains tournament {earlier.tournament.id}"
        return
    yield from _plan(earlier, later)
    yield from _entrants(earlier, later)
    for number, strengths in earlier.strengths.items():
        if later.strengths.get(number) != strengths:
            yield f"the strengths from which round {number} was paired have changed"
    now = {match.match: match for match in later.matches}
    for match in earlier.matches:
        if match.match not in now:
            yield f"{match.words} is missing in the later schedule"
            continue
        yield from _match(match, now[match.match])
        # One of the bundles may be the organiser's, with the output of bots.
        records = (
            public_record(bundle.records.get(match.match, "")) for bundle in (earlier, later)
        )
        if match.over and len(set(records)) > 1:
            yield f"the record of {match.words} has changed since the match was over"


def _plan(earlier: Bundle, later: Bundle) -> Iterator[str]:
    then, now = earlier.tournament.plan, later.tournament.plan
    for each in fields(then):
        before, after = getattr(then, each.name), getattr(now, each.name)
        if before != after:
            yield f"{each.name} of the tournament was {before}, and is {after}"
    if earlier.tournament.ended is not None:
        before, after = earlier.tournament.state, later.tournament.state
        if before is not after:
            yield f"the tournament was {before}, and is {after}"


def _entrants(earlier: Bundle, later: Bundle) -> Iterator[str]:
    # New entrants are appended: the order is that of the seeds.
    later_ones = iter(later.entries)
    for then in earlier.entries:
        now = next(later_ones, None)
        if now is None or now.name != then.name:
            yield f"{then.name} has another position among the entrants"
            return
        if earlier.versions[then.name] != later.versions[now.name]:
            yield f"{then.name} has another content hash"
        if not _same(then, now):
            yield f"{then.name} has another owner, or joined or left in another round"


def _same(then: FormatEntrant, now: FormatEntrant) -> bool:
    left = then.withdrawn in (None, now.withdrawn)
    return left and (then.owner, then.joined) == (now.owner, now.joined)


def _match(then: Scheduled, now: Scheduled) -> Iterator[str]:
    names = ["round", "number", "entrants", "commitment", "why"]
    names += [
        name for name in ("closed", "voided", "forfeited_by") if getattr(then, name) is not None
    ]
    for name in names:
        before, after = getattr(then, name), getattr(now, name)
        if before != after:
            yield f"{name} of {then.words} was {before}, and is {after}"
    if then.over and then.state is not now.state:
        yield f"{then.words} was {then.state.lower()}, and is {now.state.lower()}"
    if now.attempts < then.attempts:
        yield f"{then.words} had {then.attempts} attempts, and has {now.attempts}"


def conclude(plan: TournamentPlan, table: Standings, step: Step | None) -> dict[str, Any]:
    """Return the standings document as JSON values (docs/reference/bundle.md).

    It omits decision times, because they cannot be verified.

    Args:
        table: the standings; entrants without games have a line too.
        step: the latest step of the format; None if it is unknown.
    """
    return {
        "format": FORMAT,
        "form": plan.form,
        "standings": [{key: line[key] for key in _LINE} for line in ladder_columns.results(table)],
        "elo": asdict(EloSettings()),
        "strength": table.settings.to_json(),
        "groups": [list(group) for group in table.groups],
        "lack_of_fit": table.lack_of_fit.to_json() if table.lack_of_fit else None,
        "clip": table.clip,
        # Only where it applies, because files are compared exactly.
        **({"unfitted": table.unfitted} if table.unfitted else {}),
        "decision": decision(step),
    }


def without_strengths(standings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a standings document without the values that follow from strengths."""
    kept = {key: value for key, value in standings.items() if key not in _OF_STRENGTHS}
    lines = [
        {key: value for key, value in line.items() if key not in _OF_STRENGTH}
        for line in standings["standings"]
    ]
    return {**kept, "standings": sorted(lines, key=lambda line: str(line.get("entrant")))}


def decision(step: Step | None) -> dict[str, Any]:
    """Return the format's decision as JSON values: whether it is over, why, and the ranking."""
    if not isinstance(step, FormatOver):
        return {"over": False, "why": step.why if step else ""}
    return {
        "over": True,
        "why": step.why,
        "ranking": [list(group) for group in step.ranking],
        "drained": [list(place) for place in step.drained],
    }


def differences(stored: Any, computed: Any, where: str = "") -> list[str]:
    """Return the differences between two documents as clauses: "elo of greedy@1 is 1 and not 2"."""
    if isinstance(computed, dict) and isinstance(stored, dict):
        return [
            words
            for name in [*computed, *(name for name in stored if name not in computed)]
            for words in _member(stored, computed, name, where)
        ]
    if isinstance(computed, list) and isinstance(stored, list) and len(stored) == len(computed):
        return [
            words
            for place, (stored_item, computed_item) in enumerate(zip(stored, computed, strict=True))
            for words in differences(
                stored_item, computed_item, _of(_name(computed_item, place), where)
            )
        ]
    if type(stored) is type(computed) and stored == computed:
        return []
    return [f"{where or 'it'} is {stored}; it follows from the records as {computed}"]


def _member(stored: dict[str, Any], computed: dict[str, Any], name: str, where: str) -> list[str]:
    if name not in stored:
        return [f"{_of(name, where)} is missing"]
    if name not in computed:
        return [f"{_of(name, where)} is unknown"]
    return differences(stored[name], computed[name], _of(name, where))


def _name(line: Any, place: int) -> str:
    """Return a name for an entry of a list: its entrant, if any, or its position."""
    entrant = line.get("entrant") if isinstance(line, dict) else None
    return str(entrant) if entrant else f"entry {place}"


def _of(name: str, where: str) -> str:
    return f"{name} of {where}" if where else name
