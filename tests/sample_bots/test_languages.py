"""Test the starter kits as an author uses them: copied, built, submitted and played."""

import asyncio
import itertools
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from pokearena.v1 import bot_pb2

from arena.bots import manifest
from arena.bots.sandbox.runtimes import grants
from arena.cli.errors import UV_RUN
from referee.games.registry import GAMES
from referee.tables.table import TableSeat
from tests.arena.cli.terminal import in_own_process
from tests.ports import reserved_port
from tests.referee.test_work_budget import SHARE, budget_shares
from tests.sample_bots.authors import KitAuthor, author_of
from tests.sample_bots.languages import LANGUAGES, OUT_OF_IDEAS, Language
from tests.sample_bots.processes import PATIENCE, Process, question, started

EVERY_VARIANT = ("greed", "pokino_up", "tear_down_the_walls", "territory")
FORMS = (
    ("poke", 2, ()),
    ("pokex", 2, ()),
    ("pouku", 4, ("teams",)),
    ("saint_poker", 2, ()),
    ("pokino", 2, EVERY_VARIANT),
)
"""CI plays these in Python; the kit of each language plays the game of its greedy bot, Pokino at a
table, and a tournament of Poke with the bots of all languages (test_every_language.py)."""
OTHER_FORMS = (
    ("pokex", 4, ()),
    ("pouku", 3, ()),
    ("saint_poker", 5, ()),
    ("pokino", 6, EVERY_VARIANT),
)
"""The other numbers of seats: the fewest or the most of each game."""
QUESTIONS = [question(luck=7 * n, game=n, decision=3 * n) for n in range(20)]
LINES = 30
"""Upper limit for the length of the random bot's file."""
SCREEN = 50
"""Upper limit for the length of a README, in lines."""

# The first test of a kit builds it, which takes many minutes on a busy machine.
pytestmark = pytest.mark.timeout(1800)
every_language = pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES)


@pytest.fixture
def author(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> KitAuthor:
    return author_of(request.param, tmp_path_factory)


each_author = pytest.mark.parametrize("author", LANGUAGES.values(), ids=LANGUAGES, indirect=True)
Launch = Callable[..., Process]


@pytest.fixture
def launch() -> Iterator[Launch]:
    """Start a bot of an author's kit; its environment contains its address only."""
    with ExitStack() as stack:
        short = stack.enter_context(tempfile.TemporaryDirectory(prefix="pb-"))
        number = itertools.count()

        def start_one(author: KitAuthor, run: tuple[str, ...] = (), address: str = "") -> Process:
            words = run or manifest.read(author.built).run
            command = grants(author.built, words).argv
            at = address or f"unix:{short}/bot{next(number)}"
            return stack.enter_context(started(command, author.built, at))

        yield start_one


@every_language
def test_the_file_of_the_random_bot_is_short(language: Language) -> None:
    assert len((language.folder / language.random).read_text().splitlines()) < LINES


@every_language
def test_the_readme_of_a_kit_explains_all_steps_on_one_screen(language: Language) -> None:
    text = (language.folder / "README.md").read_text()
    assert len(text.splitlines()) < SCREEN
    shown = re.findall(r"pokearena (\w+)", text)
    assert {"play", "ask", "test", "bot", "tournament", "standings", "logs"} <= set(shown)


@every_language
def test_the_manifests_of_a_kit_have_name_and_language(language: Language) -> None:
    plain = manifest.read(language.folder)
    greedy = manifest.read(language.folder, "greedy.toml")
    assert (plain.name, greedy.name) == (f"random-{language.name}", f"greedy-{language.name}")
    assert plain.build == greedy.build
    assert plain.language == greedy.language == language.name
    assert set(plain.games) == set(GAMES)
    assert greedy.plays(language.greedy)


def test_the_forms_that_are_played_have_every_game_with_fewest_and_most_seats() -> None:
    for game in GAMES.values():
        assert {number for name, number, _ in FORMS + OTHER_FORMS if name == game.id} == {
            min(game.seats),
            max(game.seats),
        }


def in_python_or_repeated(language: Language) -> list[pytest.MarkDecorator]:
    return [pytest.mark.repetition] * (language.name != "python")


every_form = [
    *(
        pytest.param(language, *form, marks=in_python_or_repeated(language))
        for language in LANGUAGES.values()
        for form in FORMS
    ),
    *(
        pytest.param(language, *form, marks=pytest.mark.repetition)
        for language in LANGUAGES.values()
        for form in OTHER_FORMS
    ),
]


@pytest.mark.long
@pytest.mark.parametrize(
    ("author", "game", "seats", "options"),
    every_form,
    indirect=["author"],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_the_random_bot_plays_every_game(
    author: KitAuthor, game: str, seats: int, options: tuple[str, ...]
) -> None:
    words = [word for option in options for word in ("--option", option)]
    settled = GAMES[game].settle(dict.fromkeys(options, True))
    sides = GAMES[game].side_count(seats, settled)
    others = ["sample:meek"] * (sides - 1)
    played = author.types(
        *("play", game, author.random, *others, "--seats", seats, *words, "--seed", "7"),
        *("--start", 60_000),
    )
    check_without_faults(played)


def check_without_faults(played: dict[str, Any]) -> None:
    assert played["complete"]
    assert [bot["faults"] for bot in played["bots"]] == [0] * len(played["bots"])
    assert played["bots"][0]["decisions"] > 0


@pytest.mark.long
@pytest.mark.parametrize(
    "author",
    [
        pytest.param(language, marks=[pytest.mark.repetition] * (name != "typescript"), id=name)
        for name, language in LANGUAGES.items()
    ],
    indirect=True,
)
def test_the_greedy_bot_beats_the_random_one_at_its_game(author: KitAuthor) -> None:
    game = author.language.greedy
    others = [author.random] * (min(GAMES[game].seats) - 1)
    words = ("-n", 3, "--seed", 7, "--start", 60_000)
    played = author.types("play", game, author.greedy, *others, *words)
    check_without_faults(played)
    places = [games["places"] for games in played["games"]]
    assert played["bots"][0]["bot"] == f"greedy-{author.language.name}"
    wins = played["bots"][0]["wins"]
    assert wins > 2 * max(bot["wins"] for bot in played["bots"][1:]), places


@pytest.mark.long
@each_author
def test_act_and_play_give_equal_answers_in_any_process(author: KitAuthor, launch: Launch) -> None:
    """A match with a seed is reproducible, also at a port instead of a socket."""
    bot, again = launch(author), launch(author, address=f"127.0.0.1:{reserved_port()}")
    assert bot.start(games=40).games_in_flight == 16
    one_by_one = [bot.act(request) for request in QUESTIONS]
    messages = again.play(QUESTIONS[:15], QUESTIONS[15:])
    assert [len(message.answers) for message in messages] == [15, 5]
    assert [answer for message in messages for answer in message.answers] == one_by_one
    assert [(a.game, a.decision) for a in one_by_one] == [(q.game, q.decision) for q in QUESTIONS]
    assert len({answer.action.SerializeToString() for answer in one_by_one}) > 1
    assert all(a.action in q.legal for a, q in zip(one_by_one, QUESTIONS, strict=True))
    large = question()
    large.view.poke.discards.extend(["2C"] * 20_000)
    (message,) = again.play([large] * 64)
    assert len(message.answers) == 64
    bot.end()
    bot.terminated()


@pytest.mark.long
@pytest.mark.parametrize(
    ("author", "game", "in_flight"),
    [
        *((language, "pokino", 4) for language in LANGUAGES.values()),
        *(
            pytest.param(language, "poke", 128, marks=in_python_or_repeated(language))
            for language in LANGUAGES.values()
        ),
        *(
            pytest.param(language, "pokino", 32, marks=pytest.mark.repetition)
            for language in LANGUAGES.values()
        ),
    ],
    indirect=["author"],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_a_kit_uses_a_small_share_of_its_work_budget(
    author: KitAuthor, launch: Launch, monkeypatch: pytest.MonkeyPatch, game: str, in_flight: int
) -> None:
    accept_start = TableSeat.accept_start
    seats: list[TableSeat] = []

    def as_many_games(seat: TableSeat, response: bot_pb2.StartResponse) -> None:
        accept_start(seat, response)
        seat.games_in_flight = in_flight
        seats.append(seat)

    # A kit plays 16 games at a time unless its author changes the number.
    monkeypatch.setattr(TableSeat, "accept_start", as_many_games)
    bots = [launch(author) for _ in range(2)]
    shares = asyncio.run(budget_shares(game, [bot.address for bot in bots], boards=in_flight))
    assert all(0 < share < SHARE for share in shares)
    assert [seat.faults + seat.crashes for seat in seats] == [0, 0]
    for bot in bots:
        bot.terminated()


@pytest.mark.long
@each_author
@pytest.mark.parametrize("method", ["act", "play"])
def test_an_exception_ends_the_process_and_its_trace_is_the_end_of_the_output(
    author: KitAuthor, launch: Launch, method: str
) -> None:
    bot = launch(author, run=author.language.run)
    with pytest.raises(grpc.RpcError):
        bot.act(question()) if method == "act" else bot.play(QUESTIONS)
    status, written = bot.ended()
    assert status != 0
    assert written.startswith("thinking\n")
    assert OUT_OF_IDEAS in written
    assert "choose" in written
    assert written.count("thinking") == 1


@pytest.mark.long
@each_author
def test_a_bot_started_manually_prints_a_command_to_play(author: KitAuthor) -> None:
    command = grants(author.built, manifest.read(author.built).run).argv
    ran = subprocess.run(
        command, cwd=author.built, env={}, capture_output=True, text=True, timeout=PATIENCE
    )
    assert ran.returncode == 1
    explanation, advice = ran.stderr.splitlines()
    assert "POKEARENA_ADDRESS" in explanation
    assert advice.endswith("  pokearena play poke . sample:random --watch")


@pytest.mark.long
@pytest.mark.parametrize("author", [LANGUAGES["ruby"]], ids=["ruby"], indirect=True)
def test_a_new_bot_in_another_language_plays_and_is_built_on_the_way(
    author: KitAuthor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(UV_RUN, raising=False)
    done = in_own_process(tmp_path, ["new", "mine", "--lang", author.language.name])
    assert done.last == "next  pokearena play poke ./mine sample:random --watch"
    played = in_own_process(tmp_path, done.last.removeprefix("next  pokearena ").split())
    assert played.status == 0, played.err
    assert (tmp_path / "mine" / "target" / "pokearena" / "v1" / "bot_pb.rb").exists()
