"""Tournaments from files and options: their schedules, and changes while they run."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from arena.cli.errors import USAGE
from arena.errors import InvalidSettings
from arena.store.match_settings import Clock
from arena.tournaments.tournament_request import (
    NamedBot,
    TournamentFileError,
    TournamentRequest,
    read_request,
)
from tests.arena.cli.terminal import Cli
from tests.arena.poke_plan import poke_plan

CUP = """
name = "Friday cup"
game = "poke"
format = "swiss"
boards = 2
seed = "friday"
faults = "unforgiving"
corrections = 2
bots = ["sample:greedy", "sample:meek", "sample:random"]
[settings]
rounds = 2
[options]
must_beat = false
[clock]
bank_ms = 5000
[[entrants]]
bot = "sample:bold"
owner = "ada"
"""


@pytest.fixture
def tournament(cwd: Path) -> Path:
    path = cwd / "cup.toml"
    path.write_text(CUP)
    return path


def test_a_file_describes_a_whole_tournament(tournament: Path) -> None:
    assert read_request(tournament) == TournamentRequest(
        game="poke",
        entrants=(
            NamedBot("sample:greedy"),
            NamedBot("sample:meek"),
            NamedBot("sample:random"),
            NamedBot("sample:bold", "ada"),
        ),
        name="Friday cup",
        format="swiss",
        settings={"rounds": 2},
        options={"must_beat": False},
        seats=2,
        boards=2,
        seed="friday",
        faults="unforgiving",
        corrections=2,
        clock=Clock(bank_ms=5000),
    )


def test_options_override_the_file_and_settings_are_merged(tournament: Path) -> None:
    options = {"boards": 5, "settings": {"owners_meet": "true"}, "clock": {"start_ms": 7}}
    changed = read_request(tournament, options)
    settings = {"rounds": 2, "owners_meet": True}
    assert (changed.boards, changed.settings) == (5, settings)
    assert changed.clock == Clock(start_ms=7, bank_ms=5000)


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"boards": 0}, ("boards",)),
        ({"corrections": 11}, ("corrections",)),
        ({"settings": {"rounds": "x"}}, ("settings", "rounds")),
        ({"clock": {"bank_ms": -1}}, ("clock", "bank_ms")),
        ({"bots": ["sample:greedy"]}, ("bots",)),
    ],
)
def test_an_invalid_option_is_not_reported_as_an_error_of_the_file(
    tournament: Path, options: dict[str, object], key: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidSettings) as caught:
        read_request(tournament, options)
    assert caught.value.key == key


def test_a_setting_of_the_file_that_the_format_of_an_option_lacks_has_its_line(
    tournament: Path,
) -> None:
    with pytest.raises(TournamentFileError) as caught:
        read_request(tournament, {"format": "knockout"})
    assert (caught.value.key, caught.value.line) == ("settings.rounds", 11)


def test_an_option_replaces_an_invalid_value_of_the_file(tournament: Path) -> None:
    tournament.write_text(CUP.replace("boards = 2", "boards = 0"))
    assert read_request(tournament, {"boards": 3}).boards == 3


def test_folders_are_relative_to_the_file_and_may_have_patterns(cwd: Path) -> None:
    for name in ("b", "a"):
        (cwd / "cups" / "entries" / name).mkdir(parents=True)
        (cwd / "cups" / "entries" / name / "bot.toml").touch()
    (cwd / "cups" / "entries" / "notes").mkdir()
    path = cwd / "cups" / "cup.toml"
    path.write_text('game = "poke"\nbots = ["entries/*", "entries/a", "greedy@1"]')
    entries = cwd / "cups" / "entries"
    assert [entrant.bot for entrant in read_request(path).entrants] == [
        str(entries / "a"),
        str(entries / "b"),
        str(entries / "a"),
        "greedy@1",
    ]
    path.write_text(f'game = "poke"\nbots = ["{entries}/*"]')
    absolute = [str(entries / "a"), str(entries / "b")]
    assert [entrant.bot for entrant in read_request(path).entrants] == absolute
    named = read_request(path, {"bots": ["entries/a", "entries/*"]})
    assert [entrant.bot for entrant in named.entrants] == ["entries/a", "entries/*"]


GAME = 'game = "poke"\n'


INVALID = tomllib.loads(Path(__file__).with_name("invalid_files.toml").read_text())["files"]


@pytest.mark.parametrize("row", INVALID, ids=lambda row: row[0])
def test_an_invalid_file_is_refused_with_key_and_line(cwd: Path, row: list[Any]) -> None:
    text, problem, key, *line = row
    path = cwd / "cup.toml"
    path.write_text(text)
    with pytest.raises(TournamentFileError) as caught:
        read_request(path)
    error = caught.value
    assert (error.file, error.problem.name, error.key) == (path, problem, key)
    assert error.line == (line[0] if line else None)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (GAME + 'bots = ["sample:greedy", "gready"]', 2),
        (GAME + 'bots = ["sample:greedy"]\n[[entrants]]\nowner = "ada"\nbot = "gready"', 5),
    ],
)
def test_an_unknown_bot_is_reported_with_its_line(
    cwd: Path, cli: Cli, text: str, line: int
) -> None:
    (cwd / "cup.toml").write_text(text)
    result = cli("tournament", "run", "cup.toml")
    assert (result.status, result.code) == (USAGE, "unknown-bot")
    assert f"cup.toml: line {line}: " in result.err


def test_a_file_of_another_name_is_refused(cwd: Path, cli: Cli) -> None:
    (cwd / "cup.txt").write_text(CUP)
    result = cli("tournament", "run", "cup.txt")
    assert (result.status, result.code) == (USAGE, "not-toml")


def test_an_unknown_bot_of_the_command_line_has_no_line(cwd: Path, cli: Cli) -> None:
    (cwd / "cup.toml").write_text(GAME + 'bots = ["sample:greedy", "sample:meek"]')
    result = cli("tournament", "run", "cup.toml", "sample:greedy", "gready")
    assert result.code == "unknown-bot"
    assert "line" not in result.err


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("board = 3", '"boards"'),
        ('format = "swis"', '"swiss"'),
        ('format = "swiss"\nsettings.round = 3', '"rounds"'),
        ("options.must_beet = true", '"must_beat"'),
        ("[clock]\nbank_m = 3", '"bank_ms"'),
    ],
)
def test_a_misspelled_word_suggests_the_nearest_one(cwd: Path, text: str, nearest: str) -> None:
    (cwd / "cup.toml").write_text(GAME + text)
    with pytest.raises(TournamentFileError) as caught:
        read_request(cwd / "cup.toml")
    assert nearest in caught.value.sentence


@pytest.mark.parametrize(
    ("key", "option", "value", "allowed"),
    [
        ("boards", "--boards", 100_000_000, ("1", "10,000")),
        ("boards", "--boards", 0, ("1", "10,000")),
        ("seats", "--seats", 7, ("2", "6")),
        ("clock.allowance_ms", "--allowance", -3, ("0", "3,600,000")),
        ("clock.bank_ms", "--bank", 3_600_001, ("0", "3,600,000")),
        ("clock.start_ms", "--start", 0, ("1", "3,600,000")),
    ],
)
def test_files_and_options_have_the_same_ranges(
    cli: Cli, cwd: Path, key: str, option: str, value: int, allowed: tuple[str, str]
) -> None:
    (cwd / "cup.toml").write_text(f"{GAME}{key} = {value}\n")
    refused = cli("tournament", "run", "cup.toml", "--dry-run")
    assert refused.status == USAGE
    assert all(end in refused.err for end in allowed)
    (cwd / "cup.toml").write_text(GAME)
    refused = cli("tournament", "run", "cup.toml", "--dry-run", option, value)
    assert refused.status == USAGE
    assert all(end in refused.err for end in allowed)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--format", "swis"), ('"swis"', '"swiss"')),
        (("--set", "round=3"), ('"round"', '"rounds"')),
        (("--set", "rounds=x"), ('"rounds"', "x")),
        (("--set", "rounds"), ("rounds=VALUE",)),
        (("--set", "rounds=-1"), ("-1", "0", "1,000")),
        (("--format", "knockout", "--set", "best_of=2"), ('"rounds"', "best_of", "extra")),
        (("--seats", 3), ("poke", "3")),
        (("--option", "must=1"), ('"must"', '"must_beat"')),
    ],
)
def test_an_invalid_format_is_refused_before_anything_is_stored(
    cli: Cli, tournament: Path, words: tuple[object, ...], named: tuple[str, ...]
) -> None:
    refused = cli("tournament", "run", tournament, "--dry-run", *words)
    assert refused.status == USAGE
    assert [word for word in named if word not in refused.err] == []
    assert not Path(".pokearena").exists()


def test_a_dry_run_prints_the_plan_and_plays_nothing(cli: Cli, tournament: Path) -> None:
    result = cli("tournament", "run", tournament, "--dry-run")
    assert result.status == 0
    assert "poke-must_beat=false · swiss · rounds 2 · unforgiving" in result.out
    assert "greedy v random" in result.out
    document = cli("tournament", "run", tournament, "--dry-run", "--json").json
    assert (document["matches"], document["games"], document["clock"]["bank_ms"]) == (4, 16, 5000)
    assert document["corrections"] == 2
    words = ("tournament", "run", tournament, "--dry-run", "--json", "--corrections", 1)
    assert cli(*words).json["corrections"] == 1
    assert document["entrants"][3] == {"bot": "bold", "owner": "ada"}
    assert not Path(".pokearena").exists()


@pytest.mark.parametrize(
    ("words", "matches", "sentence"),
    [
        (("--format", "round-robin"), 6, "6 matches, 12 games"),
        (("--format", "gauntlet", "--cycles", 2), 6, "6 matches, 12 games"),
        (("--format", "swiss", "--set", "rounds=3"), 6, "6 matches, 2 of them"),
        (("--format", "knockout"), 3, "3 matches, 2 of them"),
        (("--format", "ladder"), None, "first 2 matches"),
        (("--format", "ladder", "--set", "limit=50"), 50, "50 matches"),
    ],
)
def test_a_dry_run_prints_the_number_of_matches(
    cli: Cli, words: tuple[object, ...], matches: int | None, sentence: str
) -> None:
    bots = [f"sample:{name}" for name in ("greedy", "bold", "meek", "random")]
    words_of_run = ("tournament", "run", "poke", *bots, "-n", 1, "--dry-run", *words)
    assert sentence in cli(*words_of_run).out
    assert cli(*words_of_run, "--json").json["matches"] == matches


@pytest.mark.long
def test_a_tournament_file_is_played_paused_joined_left_and_shown(
    cli: Cli, tournament: Path
) -> None:
    words = ("--format", "knockout", "-n", 1, "--json")
    tournament.write_text(CUP.replace("[settings]\nrounds = 2", ""))
    result = cli("tournament", "run", tournament, *words)
    assert result.status == 0, result.err
    document = result.json
    assert (document["format"], document["name"], document["policy"]) == (
        "knockout",
        "Friday cup",
        "unforgiving",
    )
    assert document["decision"]["step"] == "over"
    assert len(document["decision"]["ranking"][0]) == 1
    shown = cli("tournament", "show", document["tournament"]).out
    assert f"final ranking: 1 {document['decision']['ranking'][0][0]}" in shown
    for late, sentence in (
        (("add", document["tournament"], "sample:strong"), "is a knockout"),
        (("withdraw", document["tournament"], "meek@1", "--reason", "a test"), "is closed"),
        (("pause", document["tournament"]), "is closed"),
    ):
        refused = cli("tournament", *late)
        assert refused.status in (1, 2)
        assert sentence in refused.err


def test_bots_can_join_and_leave_a_running_tournament(cli: Cli) -> None:
    from arena.cli.bots import registration
    from arena.cli.workspace import Workspace
    from arena.store.access import audit_log
    from arena.tournaments import scheduler

    workspace = Workspace()
    names = [
        registration.register(workspace, workspace.bot(f"sample:{bot}")).id
        for bot in ("meek", "bold")
    ]
    plan = poke_plan(name="x", format="ladder", settings={"limit": 30})
    made = scheduler.begin(workspace.store, plan, names)
    assert cli("tournament", "pause", made.id).status == 0
    assert cli("tournament", "add", made.id, "sample:greedy", "--owner", "ada").status == 0
    document = cli("tournament", "withdraw", made.id, "meek@1", "--json", "--reason", "a test").json
    assert document["state"] == "paused"
    assert document["entrants"] == ["meek@1", "bold@1", "greedy@1"]
    assert document["matches"]["cancelled"] == 1
    again = cli("tournament", "add", made.id, "sample:greedy")
    assert again.status == 1
    assert again.code == "entered"
    assert (document["owners"], document["withdrawn"]) == ({"greedy@1": "ada"}, ["meek@1"])
    logged = {entry.action: entry.details for entry in audit_log.list_entries(workspace.store)}
    assert logged["tournament.add"] == {"bots": "greedy@1"}
    assert logged["tournament.withdraw"] == {"version": "meek@1"}


def test_a_dry_run_of_a_test_prints_its_expected_length(cli: Cli, cwd: Path) -> None:
    words = ("tournament", "run", "poke", "sample:greedy", "sample:random", "--format", "sprt")
    given = ("--set", "high=50", "--set", "model=normalized", "--dry-run")
    document = cli(*words, *given, "--json").json
    assert document["settings"]["model"] == "normalized"
    forecast = document["sprt"]
    assert forecast["measured"] == 0
    assert 0 < forecast["low"] == forecast["high"] < forecast["middle"]
    assert cli(*words, "--set", "model=bayesian", "--dry-run").status == USAGE
