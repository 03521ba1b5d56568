"""Pages of a recorded game, position by position: full page and embedded frame."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from starlette.exceptions import HTTPException

from arena.presentation import narration
from arena.presentation.frames import FrameSequence, RecordedFrames, ReplayPosition, recorded_frames
from arena.records.analysis import stored_form
from arena.records.redaction import public_fault
from arena.store import analyses
from arena.store.matches import listing, results
from arena.store.tournaments import tournaments
from arena.web.charts import ScoreGraph, score_graph
from arena.web.data.verification import Verification
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageNotFound, PageRequest, TextTable
from arena.web.pages import replay_analysis
from arena.web.pages.replay_analysis import ReplayAnalysis
from referee.games.contract import SetupError
from referee.games.registry import find
from referee.record import GameRecord, Line, RecordError, read_games
from referee.replay import Mismatch

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
    """Data of a replay; the templates replay.html and embed.html name it `r`."""

    match: str
    tournament: str
    game: str
    number: int
    """Number of the game from 0, as in its address. Pages show numbers from 1."""
    games: tuple[int, ...]
    """Numbers of all games of the match."""
    title: str
    subtitle: str
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
        title=f"{find(match['game']).title}: {entrants}",
        subtitle=(
            f"game {game.number + 1} · board {game.game['board'] + 1} · "
            f"table {game.game['table'] + 1}"
        ),
        options=_options(match),
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
    )


def _first(recorded: RecordedFrames, shown: ReplayView) -> int:
    """Return the number of the initial position."""
    if shown.decision is None:
        return min(shown.step, len(recorded.moments) - 1)
    before = [all(act.decision < shown.decision for act in m.acts) for m in recorded.moments]
    return max(sum(before) - 1, 0)


@lru_cache(maxsize=32)
def _recorded_frames(match: str, game: str, seed: bytes) -> RecordedFrames:
    (record,) = read_games(game)
    return recorded_frames(json.loads(match), record, seed)


def _options(match: Line) -> tuple[str, ...]:
    """Return the options that differ from the defaults, for example "greed", "must beat: false"."""
    usual = find(match["game"]).options
    return tuple(
        name.replace("_", " ") + ("" if value is True else f": {str(value).lower()}")
        for name, value in match["options"].items()
        if value != usual[name].default
    )


def _chapters(recorded: RecordedFrames) -> tuple[str, ...]:
    """Return the first part of the heading at which each chapter begins, for example "Deal 3"."""
    names: dict[int, str] = {}
    for span in recorded.frames.titles:
        chapter = recorded.moments[span.first].chapter
        names.setdefault(chapter, span.value.heading.partition(" · ")[0])
    return tuple(names[chapter] for chapter in sorted(names))


log = logging.getLogger("arena.web")

_KEPT_SECONDS = 600.0
_UNTIL_ANALYSED_SECONDS = 20.0
_CONFLICT = 409
UNTRUE = (Mismatch, SetupError, RecordError, LookupError, TypeError, AttributeError)
"""Possible exceptions when a record is replayed that the referee did not write."""
QUERY = (
    ("step", "number of the first position shown, from 0"),
    ("decision", "number of the decision before which the position is shown, instead of step"),
    ("eyes", "visible cards: all, or those of a seat"),
    ("autoplay", "1: play automatically"),
)


def page(web: WebState, page_request: PageRequest) -> Page:
    """Return the replay page with actions, scores and verification."""
    source = _find_game(web, page_request)
    r = _replay(web, page_request, source)
    table = _table(r)
    match = listing.find(web.engine, r.match)
    return Page(
        title=f"{r.title}, game {r.number + 1}",
        template="replay.html",
        picture=page_request.links.to(
            "matches", r.match, "games", f"{r.number}.png", step=r.step or None
        ),
        model={
            "r": r,
            "match": match,
            "tournament": tournaments.find(web.engine, match.tournament),
        },
        data=lambda: _positions(source),
        csv=table,
        text=table,
        topics=frozenset(),
        fresh=_fresh(r),
    )


def embedded(web: WebState, page_request: PageRequest) -> Page:
    """Return the page with only the table and its controls, for a frame."""
    r = _replay(web, page_request, _find_game(web, page_request))
    return Page(
        title=r.title,
        template="embed.html",
        model={"r": r},
        topics=frozenset(),
        fresh=_fresh(r),
    )


def _fresh(r: Replay) -> float:
    """Return for how long the page stays as it is: an idle worker may add an analysis."""
    if r.verified is None:
        return 0.0
    return _KEPT_SECONDS if r.analysis else _UNTIL_ANALYSED_SECONDS


@dataclass(frozen=True, slots=True)
class _GameSource:
    """A game of a match with published seed."""

    match: Line
    games: tuple[int, ...]
    game: GameRecord
    seed: bytes
    analysis: dict[str, Any] | None


def _find_game(web: WebState, page_request: PageRequest) -> _GameSource:
    match, number = page_request.path["id"], _whole(page_request.path["n"], "a game")
    cover = results.cover(web.engine, match)
    if cover.seed is None:
        raise HTTPException(
            _CONFLICT,
            f"match {match} is not closed: its cards are shown when its last table is over; "
            f"until then see {page_request.links.to('matches', match)}.",
        )
    if number not in cover.games:
        raise PageNotFound(
            f"match {match} has no game {number}; it has 0 to {len(cover.games) - 1}."
        )
    (game,) = read_games(results.game_record(web.engine, match, number))
    analysis = stored_form.supported(analyses.find(web.engine, match))
    return _GameSource(cover.line, cover.games, game, cover.seed, analysis)


def _replay(web: WebState, page_request: PageRequest, game_source: _GameSource) -> Replay:
    match, number = game_source.match["match"], game_source.game.number
    source = page_request.links.to("embed", "matches", match, "games", number)
    try:
        return replay(
            game_source.match,
            game_source.game,
            game_source.seed,
            replay_view(page_request, game_source.match["seats"]),
            games=game_source.games,
            record=page_request.links.to("matches", f"{match}.jsonl"),
            verified=web.verifications.of(match, lambda: results.record(web.engine, match)),
            embed=_frame(source) if source else "",
            analysis=game_source.analysis,
        )
    except UNTRUE as error:
        log.warning("game %d of %s cannot be drawn", number, match, exc_info=True)
        raise HTTPException(
            _CONFLICT,
            f"game {number} of {match} cannot be shown, because its record is "
            f"not correct: {error}.",
        ) from error


def _frame(source: str) -> str:
    return f'<iframe src="{source}" width="720" height="760" title="replay"></iframe>'


def _positions(source: _GameSource) -> dict[str, Any]:
    """Return all positions as JSON values."""
    return {
        "match": source.match["match"],
        "game": source.game.number,
        "seating": source.game.game["seating"],
        "sandbox": source.game.game.get("sandbox", ""),
        "positions": list(narration.positions(source.match, source.game, source.seed)),
        "faults": [public_fault(fault) for fault in source.game.faults],
        "result": source.game.result,
        "analysis": replay_analysis.data_of_game(source.analysis, source.game.number),
    }


def _table(r: Replay) -> TextTable:
    """Return the actions, one row each."""
    return TextTable(
        ("step", "<bot", "<did", "ms", "<note"),
        [
            (m.step, act.name, act.words, "" if act.by_referee else f"{act.ms:.2f}", act.note)
            for m in r.moments
            for act in m.acts
        ],
    )


def replay_view(page_request: PageRequest, seats: int) -> ReplayView:
    """Return the position and viewpoint of a request; raises InvalidQuery."""
    eyes = page_request.query.get("eyes") or ALL
    allowed = [ALL, *map(str, range(seats))]
    if eyes not in allowed:
        raise InvalidQuery(
            f'eyes must be {", ".join(allowed[:-1])} or {allowed[-1]}, not "{eyes}".'
        )
    number = page_request.query.get("decision")
    decision = _whole(number, "a decision") if number else None
    return ReplayView(_whole(page_request.query.get("step") or "0", "a step"), eyes, decision)


def _whole(text: str, what: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 7):
        raise InvalidQuery(f'{what} must be a whole number from 0, not "{text}".')
    return int(text)
