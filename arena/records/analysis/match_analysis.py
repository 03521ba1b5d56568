"""Analyse the decisions and the luck of a recorded match by playouts. Pure.

Two kinds of expectation are kept apart:

- A *decision* is judged by what its seat knew. The engine chooses an action from the seat's view.
  The choice and the recorded action are then played out in the same fresh deals of all cards that
  are hidden from the seat. The deals that led to the choice are not used again, so the mean
  difference is not biased by the selection.
- A *position* is rated with all hands as they were, and with all chance that no seat has seen dealt
  again. The luck of a chance event is the position's expectation minus the mean over other results
  of the same event.

All random numbers follow from the match's seed. The number of playouts limits the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Final

from arena.records.analysis.engine import Engine, engine_of
from referee.games.contract import Action, Game, Options, State, places_of
from referee.games.registry import find_game
from referee.games.shared.coded_errors import CodedError
from referee.games.shared.dealing import Seeded, derive
from referee.record import GameRecord, Line, MatchRecord
from referee.replay import ReplayStep, codec_of, steps

DOUBT: Final = 3.0
"""Standard errors by which the engine's choice must be better to call a decision a mistake."""
COSTLY: Final = 0.01
"""Smallest loss of win expectation that counts as a mistake."""
_SHARE_OF_POSITIONS: Final = 0.3
_SHARE_OF_CHOICES: Final = 0.35
_FEWEST_WORLDS: Final = 8
_FEWEST_COMPARED: Final = 24
_MOST_COMPARED: Final = 1_000
_MOST_CHOOSING: Final = 400
_MOST_WORLDS: Final = 200
_FEWEST_CHOOSING: Final = 16
_PROBES: Final = 3


class NotAnalysable(CodedError):
    """This record cannot be analysed. The message is a full sentence."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean of playouts."""

    mean: float
    error: float
    """Standard error of the mean."""


@dataclass(frozen=True, slots=True)
class AnalysedDecision:
    """One decision that a bot made with more than one legal action."""

    game: int
    decision: int
    seat: int
    bot: str
    phase: str
    played: Action
    choice: Action
    """The engine's choice."""
    before: float
    """Win expectation of the seat with the engine's choice, from what it knew."""
    after: float
    """Win expectation of the seat with the recorded action, from what it knew."""
    loss: Estimate
    """Win expectation lost by the recorded action; exactly 0 if it is the engine's choice."""
    worlds: int

    @property
    def mistake(self) -> bool:
        """Whether the engine's choice is better by more than chance explains."""
        surely = self.loss.mean > DOUBT * self.loss.error
        return self.played != self.choice and self.loss.mean >= COSTLY and surely


@dataclass(frozen=True, slots=True)
class AnalysedPosition:
    """Win expectation of each seat in a position, with all hands as they were."""

    game: int
    decision: int
    expectations: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class ChanceEvent:
    """Luck of each seat from the chance in one transition, in win expectation."""

    game: int
    decision: int
    """Number of the first decision after the event."""
    luck: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class MatchAnalysis:
    """The analysis of all games of a match."""

    match: str
    game: str
    engine: str
    engine_version: str
    quality: int
    entrants: tuple[str, ...]
    decisions: tuple[AnalysedDecision, ...]
    positions: tuple[AnalysedPosition, ...]
    chance_events: tuple[ChanceEvent, ...]
    playouts: int
    skipped: int
    """Decisions without analysis because the number of playouts did not suffice for all."""

    def costliest(self, most: int = 10) -> list[AnalysedDecision]:
        """Return the mistakes with the largest losses, the largest first."""
        mistakes = [each for each in self.decisions if each.mistake]
        return sorted(mistakes, key=lambda each: (-each.loss.mean, each.game, each.decision))[:most]


@dataclass(frozen=True, slots=True)
class OpenDecision:
    """A decision to analyse, and its position."""

    step: ReplayStep
    line: Line
    record: GameRecord


class PlayoutRater:
    """Plays positions out by the engine's policy and rates their ends by seat."""

    def __init__(self, engine: Engine, sides: Sequence[int]) -> None:
        self._engine = engine
        self._sides = sides
        self.playouts = 0

    def rate(self, root: State, moves: Mapping[int, Action] | None = None) -> tuple[float, ...]:
        """Return the win expectation of each seat after one playout.

        Args:
            moves: actions of some of the seats that act in it; the policy chooses the others.
        """
        self.playouts += 1
        engine, state = self._engine, root
        first = moves or {}
        while (actors := state.actors) and not (state is not root and engine.over(root, state)):
            state = state.after(
                {s: first[s] if s in first else engine.move(state, s) for s in actors}
            )
            first = {}
        if not state.actors:
            return beaten(state, self._sides)
        seats = range(len(self._sides))
        return tuple((1 + engine.rating(state, seat, self._sides)) / 2 for seat in seats)


def beaten(state: State, sides: Sequence[int]) -> tuple[float, ...]:
    """Return each seat's share of the other sides that it beat at the end; a draw counts half."""
    place_by_side = dict(zip(sides, places_of(state.place_keys, sides), strict=True))
    shares = {
        side: fmean(
            (place < other) + (place == other) / 2
            for rival, other in place_by_side.items()
            if rival != side
        )
        for side, place in place_by_side.items()
    }
    return tuple(shares[side] for side in sides)


def analyse(
    record: MatchRecord,
    quality: int = 1,
    engine: Engine | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> MatchAnalysis:
    """Analyse a match.

    Args:
        quality: factor of the number of playouts.
        engine: the engine; by default that of the game.
        progress: receives the share of the work that is done.

    Raises:
        NotAnalysable: the seed of the match is still secret.
        NoEngine: no engine can analyse the game.
        Mismatch: the record contradicts the rules.
    """
    if record.seed is None:
        raise NotAnalysable("the match is not closed; its cards are published after its last table")
    return MatchAnalyser(record, record.seed, quality, engine, progress).run()


class MatchAnalyser:
    """The analysis of one match; the arguments are those of `analyse`, and the seed."""

    def __init__(
        self,
        record: MatchRecord,
        seed: bytes,
        quality: int,
        engine: Engine | None,
        progress: Callable[[float], None],
    ) -> None:
        self._record, self._seed, self._quality = record, seed, quality
        self._progress = progress
        self._game: Game = find_game(record.match["game"])
        self._engine = engine or engine_of(self._game.id)
        self._options: Options = self._game.settle(record.match["options"])
        self._sides = self._game.sides(record.match["seats"], self._options)
        self._rater = PlayoutRater(self._engine, self._sides)
        self._codec = codec_of(self._game)

    def run(self) -> MatchAnalysis:
        """Analyse all games."""
        played = [
            (game, list(steps(self._record.match, game, self._seed))) for game in self._record.games
        ]
        open_decisions = [
            OpenDecision(step, line, game)
            for game, positions in played
            for step in positions
            for line in step.lines
            if line.get("by") != "referee" and _has_choice(step.state, line["seat"])
        ]
        budget = self._engine.playouts * self._quality
        kept = _spread(open_decisions, int(budget * _SHARE_OF_CHOICES) // _FEWEST_CHOOSING)
        positions = list(self._positions(played, int(budget * _SHARE_OF_POSITIONS)))
        chance = [event for _, event in positions if event is not None]
        return MatchAnalysis(
            match=str(self._record.match["match"]),
            game=self._game.id,
            engine=self._engine.name,
            engine_version=self._engine.version,
            quality=self._quality,
            entrants=tuple(str(name) for name, _ in self._record.match["entrants"]),
            decisions=tuple(self.judge(kept, budget)),
            positions=tuple(position for position, _ in positions),
            chance_events=tuple(chance),
            playouts=self._rater.playouts,
            skipped=len(open_decisions) - len(kept),
        )

    def _positions(
        self, played: Sequence[tuple[GameRecord, list[ReplayStep]]], budget: int
    ) -> Iterator[tuple[AnalysedPosition, ChanceEvent | None]]:
        """Rate the positions evenly spread over the match, and the chance between them.

        Every game's first and last position is rated.
        """
        number = sum(len(positions) for _, positions in played)
        every = max(1, -(-number * 3 * _FEWEST_WORLDS // (2 * max(1, budget))))
        most = _MOST_WORLDS * self._quality
        worlds = max(_FEWEST_WORLDS, min(most, 2 * budget // (3 * -(-number // every))))
        done = 0
        for game, positions in played:
            for at, step in enumerate(positions):
                done += 1
                if at % every and at != len(positions) - 1:
                    continue
                self._progress(_SHARE_OF_POSITIONS * done / number)
                seed = self._seed_of(game, step, "analysis-position")
                rated = self._rated(step.state, seed, worlds)
                event = None
                if at and (before := positions[at - 1]).lines:
                    event = self._luck(game, before, step, rated, worlds)
                estimates = tuple(map(estimate, zip(*rated, strict=True)))
                yield AnalysedPosition(game.number, step.decision, estimates), event

    def _rated(self, state: State, seed: bytes, worlds: int) -> list[tuple[float, ...]]:
        if not state.actors:
            return [beaten(state, self._sides)]
        return [
            self._rater.rate(state.deal_unseen(_luck_of(seed, world))) for world in range(worlds)
        ]

    def _luck(
        self,
        game: GameRecord,
        before: ReplayStep,
        after: ReplayStep,
        rated: Sequence[tuple[float, ...]],
        worlds: int,
    ) -> ChanceEvent | None:
        """Compare a position with other results of the chance that led to it, if it was chance."""
        moves = {line["seat"]: self._codec.decode_json(line["action"]) for line in before.lines}
        seed = self._seed_of(game, before, "analysis-chance")
        others = [
            before.state.deal_unseen(_luck_of(seed, world)).after(moves) for world in range(_PROBES)
        ]
        seen = self._seen(after.state)
        if all(self._seen(other) == seen for other in others):
            return None
        others += [
            before.state.deal_unseen(_luck_of(seed, world)).after(moves)
            for world in range(_PROBES, max(worlds, _PROBES))
        ]
        usual = [
            self._rater.rate(other) if other.actors else beaten(other, self._sides)
            for other in others
        ]
        luck = tuple(
            difference(estimate(mine), estimate(theirs))
            for mine, theirs in zip(zip(*rated, strict=True), zip(*usual, strict=True), strict=True)
        )
        return ChanceEvent(game.number, after.decision, luck)

    def _seen(self, state: State) -> list[object]:
        return [state.public(), *(state.view(seat) for seat in range(len(self._sides)))]

    def judge(self, kept: Sequence[OpenDecision], budget: int) -> Iterator[AnalysedDecision]:
        """Choose for all decisions, then compare where the engine plays something else."""
        each = int(budget * _SHARE_OF_CHOICES) // max(1, len(kept))
        choosing = max(_FEWEST_CHOOSING, min(_MOST_CHOOSING * self._quality, each))
        chosen = []
        for done, open_one in enumerate(kept):
            self._progress(_SHARE_OF_POSITIONS + _SHARE_OF_CHOICES * done / len(kept))
            chosen.append(self._chosen(open_one, choosing))
        differing = sum(choice != played for _, choice, played in chosen)
        left = budget - self._rater.playouts
        worlds = min(
            _MOST_COMPARED * self._quality, max(_FEWEST_COMPARED, left // (2 * max(1, differing)))
        )
        for done, (open_one, (state, choice, played)) in enumerate(zip(kept, chosen, strict=True)):
            begun = _SHARE_OF_POSITIONS + _SHARE_OF_CHOICES
            self._progress(begun + (1 - begun) * done / len(kept))
            number = worlds if choice != played else _FEWEST_WORLDS
            yield self._compared(open_one, state, choice, played, number)

    def _chosen(self, open_one: OpenDecision, playouts: int) -> tuple[State, Action, Action]:
        """Return a position with the seat's view, the engine's choice, and the played action."""
        seat = int(open_one.line["seat"])
        seed = self._seed_of(open_one.record, open_one.step, "analysis-choice", seat)
        view = open_one.step.state.view(seat)
        state = self._game.from_view(view, seat, self._options, Seeded(seed))
        choice, used = self._engine.choose(state, seat, self._sides, seed, playouts)
        self._rater.playouts += used
        return state, choice, self._codec.decode_json(open_one.line["action"])

    def _compared(
        self, open_one: OpenDecision, state: State, choice: Action, played: Action, worlds: int
    ) -> AnalysedDecision:
        """Play both actions out in the same fresh deals of what is hidden from the seat."""
        seat, step = int(open_one.line["seat"]), open_one.step
        seed = self._seed_of(open_one.record, step, "analysis-comparison", seat)
        best, other = [], []
        for world in range(worlds):
            root = state.redeal(seat, _luck_of(seed, world))
            best.append(self._rater.rate(root, {seat: choice})[seat])
            if played != choice:
                other.append(self._rater.rate(root, {seat: played})[seat])
        gains = [b - o for b, o in zip(best, other, strict=True)] if other else [0.0]
        return AnalysedDecision(
            game=open_one.record.number,
            decision=int(open_one.line["decision"]),
            seat=seat,
            bot=str(open_one.record.game["seating"][seat]),
            phase=str(getattr(step.state, "phase", "turn")),
            played=played,
            choice=choice,
            before=fmean(best),
            after=fmean(other or best),
            loss=estimate(gains),
            worlds=worlds,
        )

    def _seed_of(self, game: GameRecord, step: ReplayStep, purpose: str, seat: int = 0) -> bytes:
        """Derive a seed; games on the same board differ, and so do seats that act together."""
        by_game = derive(self._seed, purpose, game.number)
        return derive(by_game, f"seat {seat}", step.decision)


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of independent values and its standard error."""
    error = (variance(values) / len(values)) ** 0.5 if len(values) > 1 else 0.0
    return Estimate(fmean(values), error)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """Return the difference of two independent estimates."""
    return Estimate(first.mean - second.mean, (first.error**2 + second.error**2) ** 0.5)


def _luck_of(seed: bytes, world: int) -> Seeded:
    return Seeded(derive(seed, "world", world))


def _has_choice(state: State, seat: int) -> bool:
    actions = iter(state.legal(seat))
    next(actions, None)
    return next(actions, None) is not None


def _spread(decisions: Sequence[OpenDecision], most: int) -> Sequence[OpenDecision]:
    """Return at most `most` decisions, evenly spread."""
    if len(decisions) <= most:
        return decisions
    return [decisions[at * len(decisions) // most] for at in range(most)]
