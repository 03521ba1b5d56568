"""Pages of a recorded game, position by position: full page and embedded frame."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException

from arena.presentation import narration
from arena.records.analysis import stored_form
from arena.records.published_faults import public_fault
from arena.store.idle_results import ANALYSES
from arena.store.matches import listing, results
from arena.store.tournaments import tournaments
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageNotFound, PageRequest, TextTable
from arena.web.pages import replay_analysis
from arena.web.pages.replay_content import ALL, Replay, ReplayView, replay
from arena.web.pages.replay_reasoning import GameReasoning, measured_json, readable_reasoning
from referee.games.contract import SetupError
from referee.numbering import game_text
from referee.record import GameRecord, Line, RecordError, read_games
from referee.replay import Mismatch

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


def replay_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the replay page with actions, scores and verification."""
    source = _find_game(web, page_request)
    r = _replay(web, page_request, source)
    table = _table(r)
    match = listing.find_match(web.engine, r.match)
    return Page(
        title=f"{r.title}, game {r.number + 1}",
        template="replay.html",
        picture=page_request.links.to(
            "matches", r.match, "games", f"{r.number}.png", step=r.step or None
        ),
        model={
            "r": r,
            "match": match,
            "tournament": tournaments.find_tournament(web.engine, match.tournament),
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
        template="embed_replay.html",
        model={"r": r},
        topics=frozenset(),
        fresh=_fresh(r),
    )


def _fresh(r: Replay) -> float:
    """Return for how long the page stays as it is: an idle worker may add an analysis."""
    if r.verified is None:
        return 0.0
    # Its owner may delete published reasoning.
    return _KEPT_SECONDS if r.analysis and not r.reasoning else _UNTIL_ANALYSED_SECONDS


@dataclass(frozen=True, slots=True)
class _GameSource:
    """A game of a match with published seed."""

    match: Line
    games: tuple[int, ...]
    game: GameRecord
    seed: bytes
    analysis: dict[str, Any] | None
    reasoning: GameReasoning
    """The reasoning and usage that the sender of the request may read."""


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
        raise PageNotFound(f"match {match} has no {game_text(number)}; it has {len(cover.games)}.")
    (game,) = read_games(results.game_record(web.engine, match, number))
    analysis = stored_form.supported(ANALYSES.find(web.engine, match))
    reasoning = readable_reasoning(web.engine, page_request, match, number)
    return _GameSource(cover.line, cover.games, game, cover.seed, analysis, reasoning)


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
            reasoning=game_source.reasoning,
        )
    except UNTRUE as error:
        log.warning("game %d of %s cannot be drawn", number, match, exc_info=True)
        raise HTTPException(
            _CONFLICT,
            f"{game_text(number)} of {match} cannot be shown, because its record is "
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
        "reasoning": list(source.reasoning.lines),
        "measured_usage": measured_json(source.reasoning.measured),
    }


def _table(r: Replay) -> TextTable:
    """Return the actions, one row each."""
    return TextTable(
        ("step", "<bot", "<did", "ms", "<note"),
        [
            (m.step, act.name, act.words, "" if act.by_referee else f"{act.ms:.2f}", act.note)
            for m in r.moments
            for act in m.actions
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
