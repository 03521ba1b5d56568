"""The positions of a recorded game as a frame sequence, with the actions that led to each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.presentation.frames import FrameSequence, frame_sequence
from arena.presentation.narration import seat_names
from referee.game_codec import DecodeError
from referee.games.contract import Action, Game
from referee.games.registry import find_game
from referee.numbering import counted_from_one
from referee.presentation.elements import Players, TableRendering
from referee.presentation.registry import presentation_of
from referee.record import GameRecord, Line
from referee.replay import ReplayStep, codec_of, in_words, steps


def phrase(game: Game, action: dict[str, Any]) -> str:
    """Return an action in the protocol's JSON form as a phrase in the third person.

    An action that cannot be decoded is returned as JSON.
    """
    decoded = _decoded(game, action)
    if decoded is None:
        return in_words(game, action)
    return presentation_of(game.id).phrase(decoded)


def public_phrase(game: Game, action: dict[str, Any]) -> str:
    """Return the public part of an action with hidden cards; "" if all of it is public."""
    decoded = _decoded(game, action)
    return "" if decoded is None else presentation_of(game.id).public_phrase(decoded)


def _decoded(game: Game, action: dict[str, Any]) -> Action | None:
    try:
        return codec_of(game).decode_json(action)
    except DecodeError:
        return None


@dataclass(frozen=True, slots=True)
class ReplayAction:
    """An action in a recorded game."""

    decision: int
    seat: int
    name: str
    words: str
    """The action as a phrase: "leads 4C 4H"."""
    outside: str
    """The public part of the action; empty if all of it is public."""
    ms: float
    note: str
    """The bot's note on the action, verbatim."""
    by_referee: bool


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A seat that was excluded from the game, with the reason."""

    seat: int
    name: str
    verdict: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ReplayPosition:
    """A position: its step from 0, and the actions and faults that led to it."""

    step: int
    actions: tuple[ReplayAction, ...]
    stops: tuple[Exclusion, ...]
    chapter: int
    begins: bool
    """Whether a deal or round begins with this position."""
    is_notable: bool = False
    """Whether an action that led to it is one that spectators look for: a run in Pokino."""

    @property
    def is_event(self) -> bool:
        """Whether a fast playback stops here."""
        return self.begins or self.is_notable or bool(self.stops)


@dataclass(frozen=True, slots=True)
class RecordedFrames:
    """A game from the deal to its end."""

    frames: FrameSequence
    moments: tuple[ReplayPosition, ...]
    names: tuple[str, ...]


def recorded_frames(match: Line, game: GameRecord, seed: bytes) -> RecordedFrames:
    """Return the frame sequence of a recorded game with all hands open.

    Raises:
        Mismatch: the record is not that of a game that could have been played.
    """
    rendered = tuple(rendered_steps(match, game, seed))
    all_steps, renderings = zip(*rendered, strict=True)
    names = tuple(seat_names(game))
    return RecordedFrames(
        frame_sequence(renderings),
        tuple(_moments(find_game(match["game"]), game, all_steps, renderings, names)),
        names,
    )


def rendered_steps(
    match: Line, game: GameRecord, seed: bytes
) -> Iterator[tuple[ReplayStep, TableRendering]]:
    """Yield the positions of a recorded game with their renderings, all hands open.

    Raises:
        Mismatch: the record is not that of a game that could have been played.
    """
    rules = find_game(match["game"])
    names = tuple(seat_names(game))
    sides = rules.sides(match["seats"], rules.settle(match["options"]))
    for step in steps(match, game, seed):
        state = step.state
        hands = {seat: state.view(seat) for seat in range(len(names))}
        table = Players(names, sides, state.scores, state.actors)
        yield step, presentation_of(rules.id).render(state.public(), hands, table)


def _moments(
    rules: Game,
    game: GameRecord,
    all_steps: Sequence[ReplayStep],
    renderings: Sequence[TableRendering],
    names: tuple[str, ...],
) -> Iterator[ReplayPosition]:
    stops = _exclusions(game, all_steps, names)
    actions: tuple[ReplayAction, ...] = ()
    chapter, is_notable = -1, False
    for number, (step, rendering) in enumerate(zip(all_steps, renderings, strict=True)):
        begins = rendering.chapter != chapter
        yield ReplayPosition(
            number, actions, stops.get(number, ()), rendering.chapter, begins, is_notable
        )
        chapter = rendering.chapter
        is_notable = any(_is_notable(rules, line["action"]) for line in step.lines)
        actions = tuple(_replay_action(rules, line, names) for line in step.lines)


def _is_notable(rules: Game, action: dict[str, Any]) -> bool:
    decoded = _decoded(rules, action)
    return decoded is not None and presentation_of(rules.id).is_notable(decoded)


def _replay_action(rules: Game, line: Line, names: tuple[str, ...]) -> ReplayAction:
    return ReplayAction(
        decision=line["decision"],
        seat=line["seat"],
        name=names[line["seat"]],
        words=phrase(rules, line["action"]),
        outside=public_phrase(rules, line["action"]),
        ms=float(line["ms"]),
        note=str(line.get("note", "")),
        by_referee=line.get("by") == "referee",
    )


def _exclusions(
    game: GameRecord, all_steps: Sequence[ReplayStep], names: tuple[str, ...]
) -> Mapping[int, tuple[Exclusion, ...]]:
    """Return the excluded seats, by the step of the decision at which each one faulted."""
    exclusions: dict[int, tuple[Exclusion, ...]] = {}
    for fault in game.faults:
        earlier = [n for n, step in enumerate(all_steps) if step.decision <= fault["decision"]]
        at = earlier[-1] if earlier else 0
        seat = fault["seat"]
        stop = Exclusion(
            seat, names[seat], str(fault["verdict"]), counted_from_one(str(fault["sentence"]))
        )
        exclusions[at] = (*exclusions.get(at, ()), stop)
    return exclusions
