"""The addresses of all pages."""

from __future__ import annotations

from arena.ladders.columns import json_schema
from arena.ladders.ladder_columns import LADDER, TOURNAMENT
from arena.web import openapi, paging
from arena.web.page import PageRoute
from arena.web.pages import (
    bot,
    bots,
    compare,
    docs,
    faults,
    games,
    home,
    ladder,
    live,
    match,
    matches,
    matrix,
    play,
    replay,
    search,
    submission,
    tournament,
    tournaments,
)
from referee.games.game_packages import EXAMPLE_GAME

TABLE = ("html", "json", "csv", "md", "txt")
"""Kinds of a page that contains a table."""
FOLLOWED = (*TABLE, "atom")
"""Kinds of a page that also has a feed."""

PAGES: tuple[PageRoute, ...] = (
    PageRoute("/", home.home_page, "The best bots of each ladder, and the running matches."),
    PageRoute(
        "/live", live.live_page, "Up to six running matches with their tables, side by side."
    ),
    PageRoute(
        "/ladders",
        ladder.ladders_page,
        "All ladders with their first three bots.",
        kinds=TABLE,
    ),
    PageRoute(
        "/ladders/{form}",
        ladder.ladder_page,
        "The ladder of a form of a game.",
        query=(
            ("sort", f"{', '.join(ladder.SORTS)}; with a minus sign in reverse"),
            ("find", "only bots whose name, author or language contains this text"),
            ("only", "active, newest or faulty: only these versions"),
            ("season", "number of a season, also an archived one; the current one by default"),
            ("seats", "1: also what each seat is worth"),
            ("adjusted", "1: also luck-adjusted scores and points"),
            ("columns", "all: also Elo, LOS, authors, languages, points and times"),
            *paging.QUERY,
        ),
        example=f"/ladders/{EXAMPLE_GAME}",
        kinds=FOLLOWED,
        schema=lambda: {"standings": {"type": "array", "items": json_schema(LADDER)}},
    ),
    PageRoute(
        "/ladders/{form}/matrix",
        matrix.matrix_page,
        "The crosstable of a ladder.",
        query=(
            ("find", "only bots whose name contains one of these words"),
            ("los", "1: likelihood of superiority instead of scores"),
            *paging.QUERY,
        ),
        example=f"/ladders/{EXAMPLE_GAME}/matrix",
        kinds=TABLE,
        schema=matrix.schema,
    ),
    PageRoute(
        "/ladders/{form}/compare",
        compare.compare_page,
        "The comparison of two versions.",
        query=(
            ("one", "first version, as name@version; a name alone selects its strongest version"),
            ("other", "second version"),
            ("sprt", "bounds of an SPRT in Elo points, such as 0 25"),
            *paging.QUERY,
        ),
        example=f"/ladders/{EXAMPLE_GAME}/compare?one=greedy&other=random",
        kinds=TABLE,
    ),
    PageRoute(
        "/matches/{id}/games/{n}",
        replay.replay_page,
        "A game of a closed match, position by position; n is its number from 0. For owners and "
        "organisers, with the reasoning of bots that they may read.",
        query=replay.QUERY,
        example="/matches/m-7f3k9q2xwd/games/0",
        kinds=TABLE,
        owners=True,
    ),
    PageRoute(
        "/embed/matches/{id}/games/{n}",
        replay.embedded,
        "The replay without navigation, for frames in other sites; n is the number from 0.",
        query=replay.QUERY,
        example="/embed/matches/m-7f3k9q2xwd/games/0",
        kinds=("html",),
    ),
    PageRoute(
        "/embed/live",
        live.embedded_table,
        "A live table without navigation, for frames in other sites.",
        query=live.QUERY,
        kinds=("html",),
    ),
    PageRoute(
        "/embed/overlay",
        live.overlay,
        "A live table on a transparent page of 1920 x 1080 pixels, to lay over a stream.",
        query=live.QUERY,
        kinds=("html",),
        pause=live.OVERLAY_PAUSE,
    ),
    PageRoute(
        "/embed/ladders/{form}",
        ladder.embedded_ladder,
        "The first bots of a ladder without navigation, for frames in other sites.",
        query=ladder.FRAME_QUERY,
        example=f"/embed/ladders/{EXAMPLE_GAME}",
        kinds=("html",),
    ),
    PageRoute(
        "/tournaments",
        tournaments.tournaments_page,
        "All tournaments: running, paused, then ended ones, each newest first.",
        query=tournaments.QUERY,
        kinds=FOLLOWED,
    ),
    PageRoute(
        "/challenges",
        tournaments.challenges,
        "The challenges between bots, in the order of tournaments; no ladder counts them.",
        query=tournaments.QUERY,
        kinds=TABLE,
    ),
    PageRoute(
        "/tournaments/{id}",
        tournament.tournament_page,
        "A tournament: progress, standings, crosstable and matches.",
        query=(("columns", "all: also the points per board"), *paging.QUERY),
        example="/tournaments/t-7f3k9q",
        kinds=FOLLOWED,
        schema=lambda: {"standings": {"type": "array", "items": json_schema(TOURNAMENT)}},
    ),
    PageRoute(
        "/matches",
        matches.matches_page,
        "The closed matches, newest first, with filters; `next` leads to the following page.",
        query=matches.QUERY,
        kinds=TABLE,
    ),
    PageRoute(
        "/search",
        search.search_page,
        "Bots, owners, tournaments and matches that fit some words.",
        query=search.QUERY,
        kinds=TABLE,
    ),
    PageRoute(
        "/matches/{id}",
        match.match_page,
        "A match: its result or its progress; HTML pages its games.",
        query=paging.QUERY,
        example="/matches/m-7f3k9q2xwd",
        kinds=TABLE,
    ),
    PageRoute(
        "/bots",
        bots.bots_page,
        "All bots with their best ranks.",
        query=bots.QUERY,
        kinds=TABLE,
    ),
    PageRoute(
        "/bots/{name}",
        bot.bot_page,
        "A bot: its versions, ratings, matchups and matches.",
        query=(*bot.QUERY, *paging.QUERY),
        example="/bots/greedy",
        kinds=FOLLOWED,
    ),
    PageRoute(
        "/bots/{name}/faults",
        faults.faults_page,
        "What went wrong with a bot; for its owner, with output and question.",
        query=(("kind", "only faults of this kind, such as timeout"), *paging.QUERY),
        example="/bots/greedy/faults",
        kinds=TABLE,
        owners=True,
    ),
    PageRoute(
        "/submissions",
        submission.submissions_page,
        "What owners have pushed, the newest first.",
        query=paging.QUERY,
        kinds=TABLE,
    ),
    PageRoute(
        "/submissions/{id}",
        submission.submission_page,
        "A submission and its state; its owner also sees the cause of a failure.",
        example="/submissions/s-7f3k9q2xwd",
        owners=True,
    ),
    PageRoute("/games", games.games_page, "All games, which a person can learn and play."),
    PageRoute(
        "/games/{game}",
        games.game_page,
        "A game: five lessons, and the form that begins a match of a person; without rating.",
        query=play.QUERY,
        example=f"/games/{EXAMPLE_GAME}",
    ),
    PageRoute(
        "/rules/{game}", docs.rules, "The rules of a game.", example=f"/rules/{EXAMPLE_GAME}"
    ),
    PageRoute("/glossary", games.glossary_page, "The words of the arena and of its games."),
    PageRoute("/docs", docs.contents, "The documentation of the arena."),
    PageRoute(
        "/docs/api",
        lambda web, page_request: openapi.api_page(web, page_request, PAGES),
        "The HTTP API.",
        kinds=("html",),
    ),
    PageRoute(
        "/docs/{page}", docs.docs_page, "A page of the documentation.", example="/docs/ratings"
    ),
    PageRoute(
        "/openapi",
        lambda web, page_request: openapi.document(web, page_request, PAGES),
        "The HTTP API as an OpenAPI document.",
        kinds=("json",),
    ),
)
