"""Content of a replay: positions, chapters, events, verification and analysis of a game."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from arena.presentation import narration
from arena.presentation.frames import FrameSequence
from arena.presentation.recorded_frames import RecordedFrames, ReplayPosition, recorded_frames
from arena.web.charts import ScoreGraph, score_graph
from arena.web.data.verification import Verification
from arena.web.pages import replay_analysis, replay_reasoning
from arena.web.pages.replay_analysis import ReplayAnalysis
from arena.web.pages.replay_reasoning import DecisionReasoning, GameReasoning
from referee.games.registry import find_game
from referee.record import TAGS, GameRecord, Line, read_games

ALL = "all"
"""Viewpoint from which all hands are visible."""


@dataclass(frozen=True, slots=True)
class ReplayView:
    """Initial position and viewpoint: "all" or a seat number."""

    step: int = 0
    eyes: str = ALL
    decision: int | None = None
    """Decision whose position is shown instead of `step`."""


@dataclass(frozen=True, slots=True)
class Replay:
    """Data of a replay; the templates replay.html and embed_replay.html name it `r`."""

    match: str
    tournament: str
    game: str
    number: int
    """Number of the game from 0, as in its address. Pages show numbers from 1."""
    games: tuple[int, ...]
    """Numbers of all games of the match."""
    title: str
    place: str
    options: tuple[str, ...]
    names: tuple[str, ...]
    frames: FrameSequence
    moments: tuple[ReplayPosition, ...]
    chapters: tuple[str, ...]
    """Titles of the chapters."""
    step: int
    eyes: str
    result: str
    seed: str
    commitment: str
    sandbox: str
    """Sandbox level of the bots; empty if unknown or if all bots ran on other machines."""
    verified: Verification | None
    """None while the verification is running."""
    record: str
    """URL of the record."""
    embed: str
    """HTML that embeds this game in other sites; empty without a server."""
    analysis: ReplayAnalysis | None = None
    """The analysis of the match; None until an idle worker has made it."""
    tags: tuple[tuple[str, ...], ...] = ()
    """The tags that the bot of each seat has set; empty if none has set any."""
    reasoning: tuple[DecisionReasoning, ...] = ()
    """The reasoning of the bots that the reader may see."""

    @property
    def last(self) -> int:
        """Number of the last position."""
        return len(self.moments) - 1

    @property
    def events(self) -> tuple[int, ...]:
        """Positions of the main events and the swings, for quick navigation."""
        steps = {moment.step for moment in self.moments if moment.is_event}
        swings = self.analysis.swings if self.analysis else ()
        return tuple(sorted(steps.union(swing.step for swing in swings)))

    @property
    def scorings(self) -> tuple[int, ...]:
        """Positions at which a score changes; automatic playback stays longer at them."""
        steps = {
            after.first
            for place in self.frames.places
            for before, after in pairwise(place.heads)
            if before.value.score != after.value.score
        }
        return tuple(sorted(steps))

    @property
    def graph(self) -> ScoreGraph:
        """The running score of each side."""
        return score_graph(self.frames)

    @property
    def event_before(self) -> int:
        """Position of the previous event; 0 without one."""
        return max((at for at in self.events if at < self.step), default=0)

    @property
    def event_after(self) -> int:
        """Position of the next event; the last position without one."""
        return min((at for at in self.events if at > self.step), default=self.last)


def replay(
    match: Line,
    game: GameRecord,
    seed: bytes,
    shown: ReplayView,
    *,
    games: Sequence[int],
    record: str,
    verified: Verification | None,
    embed: str = "",
    analysis: dict[str, Any] | None = None,
    reasoning: GameReasoning | None = None,
) -> Replay:
    """Return the replay of a game.

    Args:
        match: the record's match line.
        game: the game.
        seed: the seed of the match, 32 bytes.
        shown: the initial position, limited to the last one, and the viewpoint.
        games: the numbers of all games of the match.
        record: the URL of the whole record.
        verified: the result of the verification; None while it is running.
        embed: HTML that embeds this game in other sites.
        analysis: the stored analysis of the match, if there is one.
        reasoning: the reasoning of the game that the reader may see.

    Raises:
        Mismatch: the record does not describe a possible game.
    """
    recorded = _recorded_frames(json.dumps(match), game.text, seed)
    entrants = " v ".join(name for name, _ in match["entrants"])
    return Replay(
        match=match["match"],
        tournament=match.get("tournament") or "",
        game=match["game"],
        number=game.number,
        games=tuple(games),
        title=f"{find_game(match['game']).title}: {entrants}",
        place=f"board {game.game['board'] + 1}, table {game.game['table'] + 1}",
        options=options_in_words(match["game"], match["options"]),
        names=recorded.names,
        frames=recorded.frames,
        moments=recorded.moments,
        chapters=_chapters(recorded),
        step=_first(recorded, shown),
        eyes=shown.eyes,
        result=narration.result(game).removeprefix("result: "),
        seed=seed.hex(),
        commitment=match["commitment"],
        sandbox=game.game.get("sandbox", ""),
        verified=verified,
        record=record,
        embed=embed,
        analysis=replay_analysis.of_game(
            analysis, [name for name, _ in match["entrants"]], game.number, recorded
        ),
        tags=tuple(map(tuple, game.result.get(TAGS, ()))),
        reasoning=replay_reasoning.by_decision(
            reasoning or GameReasoning(), recorded.moments, recorded.names
        ),
    )


def _first(recorded: RecordedFrames, shown: ReplayView) -> int:
    """Return the number of the initial position."""
    if shown.decision is None:
        return min(shown.step, len(recorded.moments) - 1)
    return replay_analysis.step_before(recorded, shown.decision)


@lru_cache(maxsize=32)
def _recorded_frames(match: str, game: str, seed: bytes) -> RecordedFrames:
    (record,) = read_games(game)
    return recorded_frames(json.loads(match), record, seed)


def options_in_words(game: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the options that differ from the defaults, for example "greed", "must beat: false"."""
    usual = find_game(game).options
    return tuple(
        name.replace("_", " ") + ("" if value is True else f": {str(value).lower()}")
        for name, value in options.items()
        if name not in usual or value != usual[name].default
    )


def _chapters(recorded: RecordedFrames) -> tuple[str, ...]:
    """Return the first part of the heading at which each chapter begins, for example "Deal 3"."""
    names: dict[int, str] = {}
    for span in recorded.frames.titles:
        chapter = recorded.moments[span.first].chapter
        names.setdefault(chapter, span.value.heading.partition(" · ")[0])
    return tuple(names[chapter] for chapter in sorted(names))
