"""The addresses of all pages."""

from __future__ import annotations

from arena.web import paging
from arena.web.page_route import PageRoute
from arena.web.pages import (
    api,
    bot,
    bots,
    docs,
    faults,
    home,
    match,
    replay,
    submission,
    tournament,
    tournaments,
)
from arena.web.pages.ladders import compare, ladder, matrix

TABLE = ("html", "json", "csv", "md", "txt")
"""Kinds of a page that contains a table."""

PAGES: tuple[PageRoute, ...] = (
    PageRoute("/", home.page, "The ladders' tops, and what is being played."),
    PageRoute(
        "/ladders/{form}",
        ladder.page,
        "The ladder of a form of a game.",
        query=(
            ("sort", "the column it is ordered by, with a minus the other way round"),
            ("find", "only bots of which the name, author or language holds this"),
            *paging.QUERY,
        ),
        example="/ladders/poke",
        kinds=TABLE,
    ),
    PageRoute(
        "/ladders/{form}/matrix",
        matrix.page,
        "Who did how against whom on a ladder.",
        query=(
            ("find", "only bots of which the name holds one of these words"),
            ("los", "1 for how likely each is the stronger, instead of scores"),
            *paging.QUERY,
        ),
        example="/ladders/poke/matrix",
        kinds=TABLE,
    ),
    PageRoute(
        "/ladders/{form}/compare",
        compare.page,
        "Two versions against each other.",
        query=(
            ("one", "the first, as name@version; a name alone is its strongest version"),
            ("other", "the second"),
            ("sprt", "two differences in Elo points to decide between, such as 0 25"),
            *paging.QUERY,
        ),
        example="/ladders/poke/compare?one=greedy&other=random",
        kinds=TABLE,
    ),
    PageRoute(
        "/matches/{id}/games/{n}",
        replay.page,
        "A game of a closed match, position by position.",
        query=replay.QUERY,
        example="/matches/m-7f3k9q2xwd/games/0",
        kinds=TABLE,
    ),
    PageRoute(
        "/embed/matches/{id}/games/{n}",
        replay.embedded,
        "The same without anything around it, to be shown within other sites.",
        query=replay.QUERY,
        example="/embed/matches/m-7f3k9q2xwd/games/0",
        kinds=("html",),
    ),
    PageRoute(
        "/tournaments",
        tournaments.page,
        "All tournaments, the newest first.",
        query=paging.QUERY,
        kinds=TABLE,
    ),
    PageRoute(
        "/tournaments/{id}",
        tournament.page,
        "A tournament: how far it is, its standings, who met whom, its matches.",
        query=paging.QUERY,
        example="/tournaments/t-7f3k9q",
        kinds=TABLE,
    ),
    PageRoute(
        "/matches/{id}",
        match.page,
        "A match: what it came to, or how far it is.",
        example="/matches/m-7f3k9q2xwd",
        kinds=TABLE,
    ),
    PageRoute(
        "/bots",
        bots.page,
        "All bots, with how they stand.",
        query=(
            ("find", "only bots of which the name, owner, author or language holds this"),
            *paging.QUERY,
        ),
        kinds=TABLE,
    ),
    PageRoute(
        "/bots/{name}",
        bot.page,
        "A bot: its versions, ratings, matchups and matches.",
        query=(("form", "only on this ladder"), *paging.QUERY),
        example="/bots/greedy",
        kinds=TABLE,
    ),
    PageRoute(
        "/bots/{name}/faults",
        faults.page,
        "What went wrong with a bot; for its owner, with output and question.",
        query=(("kind", "only faults of this kind, such as timeout"), *paging.QUERY),
        example="/bots/greedy/faults",
        kinds=TABLE,
        owners=True,
    ),
    PageRoute(
        "/submissions",
        submission.listing,
        "What owners have pushed, the newest first.",
        query=paging.QUERY,
        kinds=TABLE,
    ),
    PageRoute(
        "/submissions/{id}",
        submission.page,
        "What one has pushed, and how far it is; for its owner, with what went wrong.",
        example="/submissions/s-7f3k9q2xwd",
        owners=True,
    ),
    PageRoute("/rules", docs.games, "The games that are played here."),
    PageRoute("/rules/{game}", docs.rules, "The rules of a game.", example="/rules/poke"),
    PageRoute("/docs", docs.contents, "All pages that tell how the arena works."),
    PageRoute(
        "/docs/api",
        lambda web, page_request: api.page(web, page_request, PAGES),
        "What programs can ask for.",
        kinds=("html",),
    ),
    PageRoute("/docs/{page}", docs.page, "One of them.", example="/docs/ratings"),
    PageRoute(
        "/openapi",
        lambda web, page_request: api.document(web, page_request, PAGES),
        "The same as an OpenAPI document.",
        kinds=("json",),
    ),
)
