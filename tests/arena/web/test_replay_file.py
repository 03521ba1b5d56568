"""The replays of a match as one HTML file."""

import base64
import hashlib
import re
from collections.abc import Callable

import pytest

from arena.web import replay_file
from referee.game_checks.recorded_matches import match_record
from referee.game_checks.tables import Table
from referee.games.registry import GAMES
from referee.record import MatchRecord, read
from tests.arena.web.crashed_records import crashed
from tests.conformance.tables import TABLES
from tests.examples import quick_cases

NOW = 1_800_000_000.0
SEED = bytes(range(32))
HOSTILE = '</script></style></template><script>alert("x")</script>\u202e'
SECRET = "/home/ada/mybot"
ONE_OF_EACH_GAME = [next(item for item in TABLES if item.game.id == game) for game in GAMES]
POKE = next(item for item in ONE_OF_EACH_GAME if item.game.id == "poke")


def record_of(table: Table, boards: int = 1, change: Callable[[str], str] = str) -> MatchRecord:
    return read(change(match_record(table, SEED, boards)))


def page(record: MatchRecord) -> str:
    return replay_file.html(record, replay_file.chosen_games(record), NOW)


def elements(html: str, name: str) -> list[str]:
    return re.findall(rf"<{name}>(.*?)</{name}>", html, re.DOTALL)


def source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("table", quick_cases(ONE_OF_EACH_GAME, 2), ids=str)
def test_a_file_loads_nothing_and_its_policy_allows_only_its_content(table: Table) -> None:
    html = page(record_of(table))
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    allowed = dict(part.split(" ", 1) for part in policy.replace("&#39;", "'").split("; "))
    scripts, styles = elements(html, "script"), elements(html, "style")
    assert allowed["default-src"] == "'none'"
    assert allowed["script-src"] == " ".join(map(source, scripts))
    assert allowed["style-src"] == " ".join(map(source, styles))
    assert (len(scripts), len(styles), html.count("<script")) == (3, 1, 3)
    assert " style=" not in html
    # The only links are those to positions within the page, and the icon is a data URL.
    addresses = re.findall(r'\s(?:href|src|action)="([^"]*)"', html)
    assert addresses
    assert all(re.match(r"[#?]|data:image/svg\+xml;base64,", address) for address in addresses)
    # The style sheet contains the picture of the cards.
    rest, pictures = re.subn(r'url\("data:image/svg\+xml,[^"]*"\)', "", html)
    assert pictures == 1
    assert not re.findall(r"https?://|@import|url\(", rest)


def with_fault(text: str, game: int = 1) -> str:
    """Add notes and a fault with private fields to a record."""
    return crashed(
        text,
        game,
        note=HOSTILE,
        sentence=f"its process ended: {SECRET}/bot.py {HOSTILE}",
        ended="ended-secret",
        output="output-secret",
        question={"decision": 3, "luck": "question-secret"},
        answer={"poke": {"play": {"cards": ["answer-secret"]}}},
    )


def test_a_file_shows_no_output_no_question_of_a_fault_and_no_folder() -> None:
    html = page(record_of(POKE, change=with_fault))
    assert "its process ended" in html
    assert "secret" not in html
    assert SECRET not in html


def test_text_of_bots_is_escaped() -> None:
    html = page(record_of(POKE, change=with_fault))
    assert "&lt;script&gt;alert" in html
    assert html.count("<script>") == 3
    assert html.count("</template>") == html.count("<template") == 1
    assert "\u202e" not in html


def test_the_game_with_a_fault_is_shown_first() -> None:
    html = page(record_of(POKE, boards=2, change=with_fault))
    shown, *others = html.split("<template id=")
    assert 'aria-current="page">game 2<' in shown
    assert [other.partition(">")[0] for other in others] == [f'"game-{n}"' for n in (0, 2, 3)]
    assert re.findall(r'href="(#game-\d)"', shown) == ["#game-0", "#game-2", "#game-3"]


def test_a_file_contains_a_limited_number_of_games() -> None:
    record = record_of(POKE, boards=12)
    games = replay_file.chosen_games(record)
    assert [game.number for game in games] == list(range(replay_file.MOST_GAMES))
    late = record_of(POKE, boards=12, change=lambda text: with_fault(text, 23))
    numbers = [game.number for game in replay_file.chosen_games(late)]
    assert numbers == [23, *range(replay_file.MOST_GAMES - 1)]


def test_a_file_shows_whether_its_games_are_correct() -> None:
    assert 'class="good"' in page(record_of(POKE))

    def change(text: str) -> str:
        return text.replace('"scores":[', '"scores":[7', 1)

    assert "is not correct" in page(record_of(POKE, change=change))
