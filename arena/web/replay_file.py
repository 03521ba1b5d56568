"""The replays of a match as one self-contained HTML file, which needs no server and no network."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from arena.presentation.wording import moment
from arena.web import assets
from arena.web.data.verification import Verification
from arena.web.pages.replay_content import ReplayView, replay
from arena.web.pages.replay_reasoning import GameReasoning
from arena.web.serving import html_pages
from referee.games.shared.dealing import commitment
from referee.record import GameRecord, Line, MatchRecord
from referee.replay import game_problem

MOST_GAMES: Final = 20
"""Maximum number of games in a file; a game takes 100 to 400 KB."""


class FileLinks:
    """Links between the games of a file; empty for all other pages."""

    has_play: Final = False

    def __init__(self, match: str, games: Sequence[int]) -> None:
        self._games: dict[tuple[object, ...], int] = {
            ("matches", match, "games", game): game for game in games
        }

    def to(self, *words: object, **query: object) -> str:
        """Return the link to a game of the file."""
        game = self._games.get(words)
        return "" if game is None else f"#game-{game}"

    def static(self, name: str) -> str:
        """Return "": style sheet and scripts are part of the file."""
        return ""


def chosen_games(record: MatchRecord) -> tuple[GameRecord, ...]:
    """Return at most `MOST_GAMES` games: the first game with a fault, then the others in order."""
    faulted = [game for game in record.games if game.faults][:1]
    others = [game for game in record.games if game not in faulted]
    return (*faulted, *others)[:MOST_GAMES]


def html(
    record: MatchRecord, games: Sequence[GameRecord], at: float, reasoning: Sequence[Line] = ()
) -> str:
    """Return the file.

    It contains what the replay pages of a server show to everybody: no output of bots, no
    questions of faults and no names of folders.

    Args:
        record: the record of a match whose seed is known.
        games: the games to include, at least one; the first one is shown first.
        at: the time, in seconds since 1970.
        reasoning: the reasoning of the bots, for a file that only their author reads.

    Raises:
        Mismatch: the record does not describe a possible game.
    """
    assert record.seed is not None
    match, numbers = str(record.match["match"]), sorted(game.number for game in games)
    verified = Verification(at, tuple(_problems(record, games)))
    replays = [
        replay(
            record.match,
            game,
            record.seed,
            ReplayView(),
            games=numbers,
            record="",
            verified=verified,
            reasoning=GameReasoning(
                tuple(line for line in reasoning if line["game"] == game.number)
            ),
        )
        for game in games
    ]
    style = assets.text("replay.css")
    scripts = [assets.text("replay_file.js"), assets.TABLE_SIZE, assets.text("replay_table.js")]
    icon = base64.b64encode((assets.STATIC / "icon.svg").read_bytes()).decode()
    text = (
        html_pages.environment()
        .get_template("replay_file.html")
        .render(
            title=replays[0].title,
            site=html_pages.SITE,
            links=FileLinks(match, numbers),
            replays=replays,
            short=str,
            note=_note(record, games, at),
            policy=_policy(style, scripts),
            style=Markup(style),
            scripts=[Markup(script) for script in scripts],
            icon=f"data:image/svg+xml;base64,{icon}",
        )
    )
    return html_pages.without_empty_links(text)


def _problems(record: MatchRecord, games: Sequence[GameRecord]) -> list[str]:
    """Verify the seed and the games of the file; the record may contain thousands of others."""
    assert record.seed is not None
    if commitment(record.seed) != record.match.get("commitment"):
        return ["the seed does not match the commitment"]
    problems = (game_problem(record, game) for game in games)
    return [problem for problem in problems if problem]


def _note(record: MatchRecord, games: Sequence[GameRecord], at: float) -> str:
    all_games = len(record.games)
    part = f"{len(games)} of {all_games} games. " if len(games) < all_games else ""
    return f"{part}Written {moment(at)}."


def _policy(style: str, scripts: Sequence[str]) -> str:
    """Return the Content-Security-Policy that allows exactly the inlined style and scripts."""
    allowed = " ".join(map(assets.policy_source, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {assets.policy_source(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
