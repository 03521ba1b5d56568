"""A recorded game as a film, with what was done between its positions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arena.scene import draw
from arena.scene.film import Film, film
from arena.scene.phrases import outside, phrase
from arena.scene.scene import Scene, Table
from arena.telling import seat_names
from referee.games.contract import Game
from referee.games.registry import find
from referee.record import GameRecord, Line
from referee.replay import Step, steps


@dataclass(frozen=True, slots=True)
class Act:
    """An action that was made."""

    decision: int
    seat: int
    name: str
    words: str
    """What the seat did: "leads 4C 4H"."""
    outside: str
    """What the others saw of it; empty if they saw all."""
    ms: float
    note: str
    """What the bot said of it, as it said it."""
    by_referee: bool


@dataclass(frozen=True, slots=True)
class Stop:
    """Who was put out of the game, and why."""

    seat: int
    name: str
    verdict: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Moment:
    """A position: its number from 0, and what led to it."""

    step: int
    acts: tuple[Act, ...]
    stops: tuple[Stop, ...]
    chapter: int
    begins: bool
    """Whether a deal or round begins with it."""

    @property
    def is_event(self) -> bool:
        """Whether one who is in a hurry stops here."""
        return self.begins or bool(self.stops)


@dataclass(frozen=True, slots=True)
class Reel:
    """A game from the deal to its end."""

    film: Film
    moments: tuple[Moment, ...]
    names: tuple[str, ...]


def reel(match: Line, game: GameRecord, seed: bytes) -> Reel:
    """The film of a recorded game, all hands open.

    Args:
        match: the record's match line.
        game: the game.
        seed: the seed of the match, 32 bytes.

    Raises:
        Mismatch: the record is not that of a game that could have been played.
    """
    rules = find(match["game"])
    names = tuple(seat_names(game))
    sides = rules.sides(match["seats"], rules.settle(match["options"]))
    told = tuple(steps(match, game, seed))
    scenes = [_scene(rules, step, names, sides) for step in told]
    return Reel(film(scenes), tuple(_moments(rules, game, told, scenes, names)), names)


def _scene(rules: Game, step: Step, names: tuple[str, ...], sides: tuple[int, ...]) -> Scene:
    state = step.state
    hands = {seat: state.view(seat) for seat in range(len(names))}
    table = Table(names, sides, state.scores, state.actors)
    return draw(rules.id, state.public(), hands, table)


def _moments(
    rules: Game,
    game: GameRecord,
    told: Sequence[Step],
    scenes: Sequence[Scene],
    names: tuple[str, ...],
) -> Iterator[Moment]:
    stops = _stops(game, told, names)
    acts: tuple[Act, ...] = ()
    chapter = -1
    for number, (step, scene) in enumerate(zip(told, scenes, strict=True)):
        begins = scene.chapter != chapter
        yield Moment(number, acts, stops.get(number, ()), scene.chapter, begins)
        chapter = scene.chapter
        acts = tuple(_act(rules, line, names) for line in step.lines)


def _act(rules: Game, line: Line, names: tuple[str, ...]) -> Act:
    return Act(
        decision=line["decision"],
        seat=line["seat"],
        name=names[line["seat"]],
        words=phrase(rules, line["action"]),
        outside=outside(rules, line["action"]),
        ms=float(line["ms"]),
        note=str(line.get("note", "")),
        by_referee=line.get("by") == "referee",
    )


def _stops(
    game: GameRecord, told: Sequence[Step], names: tuple[str, ...]
) -> Mapping[int, tuple[Stop, ...]]:
    """Who was put out, by the step in which the decision that did it was asked."""
    found: dict[int, tuple[Stop, ...]] = {}
    for fault in game.faults:
        asked = [n for n, step in enumerate(told) if step.decision <= fault["decision"]]
        at = asked[-1] if asked else 0
        seat = fault["seat"]
        stop = Stop(seat, names[seat], str(fault["verdict"]), str(fault["sentence"]))
        found[at] = (*found.get(at, ()), stop)
    return found
