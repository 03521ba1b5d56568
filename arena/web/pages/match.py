"""Page of a match: its result, or its current state while it is open."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from arena.config import Folder
from arena.formats.knockout import Tie
from arena.formats.round_robin import seatings
from arena.models.transcripts import TRANSCRIPT, transcript_files
from arena.presentation import wording
from arena.ratings.call_figures import CallFigures
from arena.ratings.closed_match import FAULTS, PlayedFault, PlayedGame, means, scores
from arena.ratings.decision_histogram import DecisionHistogram
from arena.records.analysis import stored_form
from arena.records.analysis.swings import Swing, largest_swings
from arena.records.decision_times import Decision, slowest
from arena.records.fault_causes import FaultCause
from arena.records.published_faults import pathless
from arena.store.access.sessions import Identity, Role
from arena.store.bots import versions
from arena.store.idle_results import ANALYSES
from arena.store.matches import listing, results
from arena.store.matches.listing import Match
from arena.store.matches.model_calls import match_usage
from arena.store.matches.results import scorecard
from arena.store.schema import OPEN, MatchState
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import json_values
from arena.web import paging
from arena.web.data import tournament_standings
from arena.web.data.changes import ARENA, position_of
from arena.web.data.verification import Verification
from arena.web.data.web_state import WebState
from arena.web.page import Page, PageRequest, TextTable
from arena.web.pages.faults import causes_of
from arena.web.pages.match_story import EntrantResult, MatchEvidence, MatchStory, match_story
from arena.web.pages.replay_content import options_in_words
from referee.action_phrases import parse_description
from referee.games.registry import find_game
from referee.presentation.registry import presentation_of
from referee.record import TAGS, read_games
from referee.replay import in_words
from referee.sanitizing import one_line

_KEPT_SECONDS = 600.0
_GRID_GAMES = 120
"""Games on a page of the grid."""

STATES = {
    MatchState.PENDING: "waiting to be played",
    MatchState.RUNNING: "being played",
    MatchState.CLOSED: "over",
    MatchState.VOID: "void",
    MatchState.CANCELLED: "cancelled",
}
"""Match states as page text."""


def match_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the page of a match; raises NotFound."""
    match = listing.find_match(web.engine, page_request.path["id"])
    tournament = tournaments.find_tournament(web.engine, match.tournament)
    waits = _waiting_reason(web, match, tournament.plan.game)
    page = Page(
        title=f"{' v '.join(match.entrants)}: {wording.form_name(tournament.plan.form)}",
        template="match.html",
        picture=page_request.links.to("matches", f"{match.id}.png"),
        manage=page_request.links.to("organiser", "matches", match.id),
        model={
            "match": match,
            "tournament": tournament,
            "state": STATES[match.state],
            "options": options_in_words(tournament.plan.game, tournament.plan.options),
            "open": match.state in OPEN,
            "spectators": web.settings.spectators,
            "delay": web.settings.delay,
            "shown": None,
            "others": [each for each in listing.replays(web.engine, match) if each.id != match.id],
            "waits": waits,
            "transcripts": readable_transcripts(web, page_request, match),
            "elsewhere": [
                name
                for name in match.entrants
                if (known := web.snapshot.versions.get(name)) and not known.folder
            ],
        },
        data={
            **json_values.match(match),
            "form": tournament.plan.form,
            "waits": waits or None,
        },
        parts=("match-state", "match-table"),
    )
    if match.state in OPEN:
        return _with_table(web, page, match, tournament)
    return _with_results(web, page, match, page_request, _tie_of(web, match, tournament))


def _tie_of(web: WebState, match: Match, tournament: Tournament) -> tuple[Tie, bool] | None:
    """Return the series of a knockout that a match belongs to, and whether it is the final.

    None in other formats, and unless something else than the matches won has decided it.
    """
    stages = tournament_standings.bracket_of(web.engine, tournament)
    return next(
        (
            (tie, len(stage) == 1)
            for stage in stages
            for tie in stage
            if match.place in tie.places and tie.decided_by
        ),
        None,
    )


def _waiting_reason(web: WebState, match: Match, game: str) -> str:
    """Return why a pending match waits for a worker or a new try; empty if it does not."""
    if match.state is not MatchState.PENDING:
        return ""
    if reason := listing.waiting_reason(match):
        return f"This match {one_line(reason)}."
    return web.workers.waiting_reason(web.engine, game, match=match.id)


def _with_table(web: WebState, page: Page, match: Match, tournament: Tournament) -> Page:
    """Return the page of an open match, with its table if it is visible."""
    shown = web.live_table(match, tournament)
    return replace(
        page,
        model={**page.model, "shown": shown},
        data={**page.data, "position": shown.to_json() if shown else None},
        csv=_csv(match, ()),
        text=_text(()),
        topics=frozenset({ARENA, position_of(match.id)}),
    )


def _with_results(
    web: WebState,
    page: Page,
    match: Match,
    page_request: PageRequest,
    series: tuple[Tie, bool] | None,
) -> Page:
    """Return the page of a match that is over."""
    games = scorecard(web.engine, match.id)
    ordered = sorted(games, key=lambda game: (game.board, game.table))
    grid = paging.selection_of(page_request, _GRID_GAMES).cut(ordered)
    longest = slowest(web.engine, match.id, match.entrants, games)
    sides = sides_of(match, games, longest, match_usage(web.engine, match.id))
    faults = results.faults(web.engine, match.id)
    causes = causes_of(web, faults)
    cover = results.cover(web.engine, match.id)
    story = _story(web, match, games, sides, faults, cover.line) if sides else None
    seed = None if cover.seed is None else cover.seed.hex()
    proof = {} if seed is None else {"verified": _verified(web, match)}
    is_verifying = None in proof.values()
    return replace(
        page,
        model={
            **page.model,
            "games": games,
            "sides": sides,
            "richest": richest_loser(sides),
            "piece": grid,
            "boards": boards_of(grid.items),
            "tags": sorted(
                {t for game in games for tags in game.tally.get(TAGS, ()) for t in tags}
            ),
            "story": story,
            "series": series,
            "causes": causes,
            "seed": seed,
            **proof,
        },
        data={
            **page.data,
            "seed": seed,
            **{name: _verified_json(verification) for name, verification in proof.items()},
            "sides": [side.to_json(match.id) for side in sides],
            "story": story.to_json() if story else None,
            "results": [_game_json(game) for game in games],
            "faults": [_cause_json(cause) for cause in causes],
        },
        csv=_csv(match, games),
        text=_text(sides),
        headers=grid.headers,
        # Clients that followed the match receive its end. New clients do not need live updates.
        still=True,
        topics=frozenset({ARENA}) if is_verifying else frozenset(),
        # While the verification is running, the next request must check its result.
        fresh=0.0 if is_verifying else _KEPT_SECONDS,
    )


def _verified(web: WebState, match: Match) -> Verification | None:
    return web.verifications.of(match.id, lambda: results.record(web.engine, match.id))


def _verified_json(verification: Verification | None) -> dict[str, Any] | None:
    if verification is None:
        return None
    return {"at": json_values.iso(verification.at), "problems": list(verification.problems)}


def sides_of(
    match: Match,
    games: Sequence[PlayedGame],
    longest: Sequence[Decision | None],
    usage: Mapping[str, CallFigures],
) -> list[EntrantResult]:
    """Return the results of all entrants, in the order of the match; empty without games.

    Args:
        longest: the slowest decision of each entrant.
        usage: the calls of models by version, as measured.
    """
    if not games:
        return []
    shares = means(scores(games))
    return [
        replace(_side(name, at, games, shares, longest[at]), usage=usage.get(name))
        for at, name in enumerate(match.entrants)
    ]


def richest_loser(sides: Sequence[EntrantResult]) -> EntrantResult | None:
    """Return the entrant with the most points; None if it is among those with the best score."""
    if not sides:
        return None
    most = max(side.points for side in sides)
    if any(side.ahead and side.points == most for side in sides):
        return None
    return next(side for side in sides if side.points == most)


def _side(
    name: str,
    at: int,
    games: Sequence[PlayedGame],
    shares: Sequence[float],
    longest: Decision | None,
) -> EntrantResult:
    wins = sum(game.is_won(at) for game in games)
    draws = sum(game.is_drawn(at) for game in games)
    return EntrantResult(
        name=name,
        wins=wins,
        draws=draws,
        losses=len(games) - wins - draws,
        points=sum(game.scores[at] for game in games if game.scores),
        boards=len({game.board for game in games}),
        share=shares[at],
        ahead=shares[at] >= max(shares) - 1e-9,
        faults=sum(game.verdicts[at] in FAULTS for game in games),
        thinking=sum((game.thinking[at] for game in games if game.thinking), DecisionHistogram()),
        longest=longest,
        corrections=sum(game.corrections[at] for game in games if game.corrections),
        defaults=sum(game.defaults[at] for game in games if game.defaults),
    )


def boards_of(games: Sequence[PlayedGame]) -> list[tuple[int, list[PlayedGame]]]:
    """Group the games by board. The games of a board have the same cards in all seatings."""
    ordered = sorted(games, key=lambda game: (game.board, game.table))
    return [(board, list(games)) for board, games in groupby(ordered, lambda game: game.board)]


def _story(
    web: WebState,
    match: Match,
    games: Sequence[PlayedGame],
    sides: Sequence[EntrantResult],
    faults: Sequence[PlayedFault],
    line: dict[str, Any],
) -> MatchStory:
    """Return the story of a closed match; `line` is the first line of its record."""
    analysis = stored_form.supported(ANALYSES.find(web.engine, match.id))
    swings = _swings(match, games, analysis, line) if analysis else []
    actions = _actions(web, match, {swing.game for swing, _ in swings})
    phrase = partial(_phrase, match.game)
    return match_story(
        MatchEvidence(match.entrants, sides, games, faults, analysis, swings, actions, phrase)
    )


def _phrase(game: str, text: str) -> str:
    """Return a described action in the words of a replay."""
    action = parse_description(text, find_game(game).action_types)
    return presentation_of(game).phrase(action) if action else f"chooses {text}"


def _actions(
    web: WebState, match: Match, games: Collection[int]
) -> dict[tuple[int, int], tuple[str, str]]:
    """Return the entrant and the phrase of each decision of some games, by (game, decision)."""
    rules = find_game(match.game)
    return {
        (game, line["decision"]): (
            record.game["seating"][line["seat"]],
            _phrase(match.game, in_words(rules, line["action"])),
        )
        for game in games
        for record in read_games(results.game_record(web.engine, match.id, game))
        for line in record.actions
    }


def _swings(
    match: Match, games: Sequence[PlayedGame], analysis: dict[str, Any], line: dict[str, Any]
) -> list[tuple[Swing, str]]:
    """Return the largest swings of an analysis with the entrant of each."""
    game = find_game(match.game)
    sides = game.sides(line["seats"], game.settle(line["options"]))
    tables = {game.game: game.table for game in games}
    orders = seatings(len(match.entrants))
    return [
        (swing, match.entrants[orders[tables[swing.game]][sides[swing.seat]]])
        for swing in largest_swings(
            analysis["positions"], [sides.index(side) for side in sorted(set(sides))]
        )
    ]


def _game_json(game: PlayedGame) -> dict[str, Any]:
    return {
        "game": game.game,
        "table": game.table,
        "board": game.board,
        "places": list(game.places),
        "scores": None if game.scores is None else list(game.scores),
        "verdicts": list(game.verdicts),
        "faults": list(game.faults),
        "tags": list(game.tally.get(TAGS, ())),
        "corrections": list(game.corrections) or [0] * len(game.places),
        "defaults": list(game.defaults) or [0] * len(game.places),
    }


def _cause_json(cause: FaultCause) -> dict[str, Any]:
    first = cause.first
    return {
        "entrant": first.version,
        "verdict": first.verdict,
        "sentence": pathless(first.sentence),
        "times": cause.times,
        "new": cause.is_new,
        "game": first.game,
        "decision": first.decision,
    }


def _csv(match: Match, games: Sequence[PlayedGame]) -> TextTable:
    heads = ["game", "table", "board"]
    for name in match.entrants:
        heads += [f"place {name}", f"score {name}", f"verdict {name}"]
    rows = []
    for game in games:
        row: list[object] = [game.game, game.table, game.board]
        for at, place in enumerate(game.places):
            score = None if game.scores is None else game.scores[at]
            row += [place, score, game.verdicts[at]]
        rows.append(row)
    return TextTable(tuple(heads), rows)


def _text(sides: Sequence[EntrantResult]) -> TextTable:
    return TextTable(
        (
            *("<bot", "W–D–L", "points", "score", "faults", "corrected", "defaults"),
            *("p50 ms", "p95 ms", "slowest ms"),
        ),
        [
            (
                side.name,
                f"{side.wins}–{side.draws}–{side.losses}",
                side.points,
                wording.percent(side.share, 1),
                side.faults,
                side.corrections,
                side.defaults,
                wording.milliseconds(side.quantile(0.5)),
                wording.milliseconds(side.quantile(0.95)),
                wording.milliseconds(side.slowest),
            )
            for side in sides
        ],
    )


def transcripts_of(web: WebState, match: Match) -> list[Path]:
    """Return the transcripts of a match on this machine."""
    root = web.settings.data
    return [] if root is None else transcript_files(Folder(root).outputs, match.id)


def may_read_transcript(web: WebState, identity: Identity, match: Match, version: str) -> bool:
    """Return whether a person may read the transcript of a version.

    It contains hidden cards and prompts: it is for organisers and the owner, after the match.
    """
    if match.state is not MatchState.CLOSED or version not in match.entrants:
        return False
    if identity.role is Role.ORGANISER:
        return True
    owner = versions.find_version(web.engine, version).owner
    return identity.role is Role.OWNER and owner == identity.name


def readable_transcripts(web: WebState, page_request: PageRequest, match: Match) -> list[str]:
    """Return the versions of a match whose transcripts the signed-in person may read."""
    viewer = page_request.viewer
    if viewer is None:
        return []
    names = [path.name.removesuffix(TRANSCRIPT) for path in transcripts_of(web, match)]
    return [name for name in names if may_read_transcript(web, viewer, match, name)]
