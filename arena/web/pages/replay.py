"""A recorded game, position by position: its own page, and the one for other sites."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException

from arena import telling
from arena.discretion import public
from arena.store import results
from arena.web.page import Ask, BadAsk, NoSuchPage, Page, Table
from arena.web.replay import ALL, Replay, Shown, replay
from arena.web.state import Web
from referee.games.contract import SetupError
from referee.record import GameRecord, Line, RecordError, read, read_games
from referee.replay import Mismatch

log = logging.getLogger("arena.web")

_KEPT_SECONDS = 600.0
_CONFLICT = 409
UNTRUE = (Mismatch, SetupError, RecordError, LookupError, TypeError, AttributeError)
"""What comes of replaying a record that the referee did not write."""
QUERY = (
    ("step", "the position that is shown first, from 0"),
    ("decision", "the decision that is asked for in it, instead of its number"),
    ("eyes", "whose cards are open: all, or a seat"),
    ("autoplay", "1: it plays by itself"),
)


def page(web: Web, ask: Ask) -> Page:
    """The replay with its actions, scores and proof."""
    found = _found(web, ask)
    r = _replay(web, ask, found)
    table = _table(r)
    return Page(
        title=f"{r.title}, game {r.number}",
        template="replay.html",
        model={"r": r},
        data=lambda: _positions(found),
        csv=table,
        text=table,
        topics=frozenset(),
        fresh=_fresh(r),
    )


def embedded(web: Web, ask: Ask) -> Page:
    """The table and its controls alone, for a frame."""
    r = _replay(web, ask, _found(web, ask))
    return Page(
        title=r.title,
        template="embed.html",
        model={"r": r},
        topics=frozenset(),
        fresh=_fresh(r),
    )


def _fresh(r: Replay) -> float:
    return 0.0 if r.verified is None else _KEPT_SECONDS


@dataclass(frozen=True, slots=True)
class _Found:
    """A game of a match whose seed is known."""

    match: Line
    games: tuple[int, ...]
    game: GameRecord
    seed: bytes


def _found(web: Web, ask: Ask) -> _Found:
    match, number = ask.path["id"], _whole(ask.path["n"], "a game")
    cover = results.cover(web.engine, match)
    if cover.seed is None:
        raise HTTPException(
            _CONFLICT,
            f"match {match} is not closed: its cards are shown when its last table is over; "
            f"until then see {ask.links.to('matches', match)}.",
        )
    if number not in cover.games:
        raise NoSuchPage(f"match {match} has no game {number}; it has 0 to {len(cover.games) - 1}.")
    (game,) = read_games(results.game_record(web.engine, match, number))
    return _Found(cover.line, cover.games, game, cover.seed)


def _replay(web: Web, ask: Ask, found: _Found) -> Replay:
    match, number = found.match["match"], found.game.number
    source = ask.links.to("embed", "matches", match, "games", number)
    try:
        return replay(
            found.match,
            found.game,
            found.seed,
            _shown(ask, found.match["seats"]),
            games=found.games,
            record=ask.links.to("matches", f"{match}.jsonl"),
            verified=web.verifications.of(match, lambda: read(results.record(web.engine, match))),
            embed=_frame(source) if source else "",
        )
    except UNTRUE as error:
        log.warning("game %d of %s cannot be drawn", number, match, exc_info=True)
        raise HTTPException(
            _CONFLICT, f"game {number} of {match} cannot be drawn, for its record lies: {error}."
        ) from error


def _frame(source: str) -> str:
    return f'<iframe src="{source}" width="720" height="760" title="replay"></iframe>'


def _positions(found: _Found) -> dict[str, Any]:
    """All positions for programs."""
    return {
        "match": found.match["match"],
        "game": found.game.number,
        "seating": found.game.game["seating"],
        "sandbox": found.game.game.get("sandbox", ""),
        "positions": list(telling.positions(found.match, found.game, found.seed)),
        "faults": [public(fault) for fault in found.game.faults],
        "result": found.game.result,
    }


def _table(r: Replay) -> Table:
    """The actions, a line each."""
    return Table(
        ("step", "<bot", "<did", "ms", "<note"),
        [
            (m.step, act.name, act.words, "" if act.by_referee else f"{act.ms:.2f}", act.note)
            for m in r.moments
            for act in m.acts
        ],
    )


def _shown(ask: Ask, seats: int) -> Shown:
    eyes = ask.query.get("eyes") or ALL
    allowed = [ALL, *map(str, range(seats))]
    if eyes not in allowed:
        raise BadAsk(f'eyes are {", ".join(allowed[:-1])} or {allowed[-1]}, not "{eyes}".')
    asked = ask.query.get("decision")
    decision = _whole(asked, "a decision") if asked else None
    return Shown(_whole(ask.query.get("step") or "0", "a step"), eyes, decision)


def _whole(text: str, what: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 7):
        raise BadAsk(f'{what} is a whole number from 0, not "{text}".')
    return int(text)
