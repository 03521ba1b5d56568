"""Tournaments from files and flags: what would be played, in any format, and steered."""

import json
from pathlib import Path

import pytest

from arena.cli.errors import CommandError
from arena.cli.tournaments.tournament_file import Cup, merged, read
from tests.arena.cli.terminal import Cli

CUP = """
name = "Friday cup"
game = "poke"
format = "swiss"
boards = 2
seed = "friday"
faults = "unforgiving"
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
def cup(here: Path) -> Path:
    path = here / "cup.toml"
    path.write_text(CUP)
    return path


def test_a_file_says_all_of_a_tournament(cup: Path) -> None:
    assert read(cup) == Cup(
        game="poke",
        bots=(
            ("sample:greedy", ""),
            ("sample:meek", ""),
            ("sample:random", ""),
            ("sample:bold", "ada"),
        ),
        name="Friday cup",
        format="swiss",
        settings={"rounds": 2},
        options={"must_beat": False},
        boards=2,
        seed="friday",
        faults="unforgiving",
        bank_ms=5000,
        file=str(cup),
    )


def test_flags_say_it_otherwise_settings_one_by_one(cup: Path) -> None:
    changed = merged(read(cup), {"boards": 5, "settings": {"owners_meet": "true"}})
    assert (changed.boards, changed.settings) == (5, {"rounds": 2, "owners_meet": "true"})


def test_folders_are_relative_to_the_file_and_may_have_patterns(here: Path) -> None:
    for name in ("b", "a"):
        (here / "cups" / "entries" / name).mkdir(parents=True)
        (here / "cups" / "entries" / name / "bot.toml").touch()
    (here / "cups" / "entries" / "notes").mkdir()
    path = here / "cups" / "cup.toml"
    path.write_text('game = "poke"\nbots = ["entries/*", "entries/a", "greedy@1"]')
    entries = here / "cups" / "entries"
    assert [bot for bot, _ in read(path).bots] == [
        str(entries / "a"),
        str(entries / "b"),
        str(entries / "a"),
        "greedy@1",
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("game = ", "is no TOML"),
        ("bots = []", "does not say the game"),
        ('game = "poke"\nboard = 3', 'no setting "board"; did you mean "boards"?'),
        ('game = "poke"\nboards = "3"', "boards is a whole number, not '3'"),
        ('game = "poke"\nboards = true', "boards is a whole number, not True"),
        ('game = "poke"\n[clock]\nbank = 3', 'no setting "clock.bank"'),
        ('game = "poke"\nbots = [1]', "bots is a list of texts"),
        ('game = "poke"\n[[entrants]]\nowner = "x"', "each of [[entrants]] says its bot"),
        ('game = "poke"\nbots = ["entries/*"]', "has a bot.toml"),
    ],
)
def test_a_file_that_says_something_else_is_explained(here: Path, text: str, sentence: str) -> None:
    path = here / "cup.toml"
    path.write_text(text)
    with pytest.raises(CommandError) as error:
        read(path)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--format", "swis"), 'there is no format "swis"; did you mean "swiss"?'),
        (("--set", "round=3"), 'no setting of swiss "round"; did you mean "rounds"?'),
        (("--set", "rounds=x"), "rounds is a whole number, not 'x'"),
        (("--set", "rounds"), "write rounds=VALUE"),
        (("--set", "rounds=-1"), "is not below 0"),
        (("--format", "knockout", "--set", "best_of=2"), "no setting of knockout"),
        (("--seats", 3), "poke is played by 2"),
        (("--option", "must=1"), 'no option of poke "must"'),
    ],
)
def test_what_a_format_cannot_play_is_refused_and_nothing_is_stored(
    cli: Cli, cup: Path, words: tuple[object, ...], sentence: str
) -> None:
    said = cli("tournament", "run", cup, "--dry-run", *words)
    assert said.status == 2
    assert sentence in said.err
    assert not Path(".pokearena").exists()


def test_a_dry_run_tells_what_would_be_played_and_plays_nothing(cli: Cli, cup: Path) -> None:
    said = cli("tournament", "run", cup, "--dry-run")
    assert said.status == 0
    assert "poke-must_beat=false · swiss · rounds 2 · unforgiving" in said.out
    assert "greedy v random" in said.out
    assert "4 matches, 2 of them known now, 16 games" in said.out
    assert "guessed from the house bots" in said.out
    told = json.loads(cli("tournament", "run", cup, "--dry-run", "--json").out)
    assert (told["matches"], told["games"], told["clock"]["bank_ms"]) == (4, 16, 5000)
    assert told["entrants"][3] == {"bot": "bold", "owner": "ada"}
    assert not Path(".pokearena").exists()


@pytest.mark.parametrize(
    ("words", "matches", "sentence"),
    [
        (("--format", "round-robin"), 6, "6 matches, 12 games"),
        (("--format", "gauntlet", "--cycles", 2), 6, "6 matches, 12 games"),
        (("--format", "swiss", "--set", "rounds=3"), 6, "6 matches, 2 of them known now"),
        (("--format", "knockout"), 3, "3 matches, 2 of them known now"),
        (("--format", "ladder"), None, "it goes on until it is stopped"),
        (("--format", "ladder", "--set", "limit=50"), 50, "50 matches"),
    ],
)
def test_a_dry_run_knows_how_many_matches_a_format_has(
    cli: Cli, words: tuple[object, ...], matches: int | None, sentence: str
) -> None:
    bots = [f"sample:{name}" for name in ("greedy", "bold", "meek", "random")]
    asked = ("tournament", "run", "poke", *bots, "-n", 1, "--dry-run", *words)
    assert sentence in cli(*asked).out
    assert json.loads(cli(*asked, "--json").out)["matches"] == matches


def test_a_cup_is_played_paused_joined_left_and_shown(cli: Cli, cup: Path) -> None:
    words = ("--format", "knockout", "-n", 1, "--json")
    cup.write_text(CUP.replace("[settings]\nrounds = 2", ""))
    said = cli("tournament", "run", cup, *words)
    assert said.status == 0, said.err
    told = json.loads(said.out)
    assert (told["format"], told["name"], told["policy"]) == (
        "knockout",
        "Friday cup",
        "unforgiving",
    )
    assert told["decision"]["step"] == "over"
    assert len(told["decision"]["ranking"][0]) == 1
    shown = cli("tournament", "show", told["tournament"]).out
    assert f"final ranking: 1 {told['decision']['ranking'][0][0]}" in shown
    for late, sentence in (
        (("add", told["tournament"], "sample:strong"), "is a knockout, which takes nobody in"),
        (("withdraw", told["tournament"], "meek@1"), "is closed"),
        (("pause", told["tournament"]), "is closed"),
    ):
        refused = cli("tournament", *late)
        assert refused.status in (1, 2)
        assert sentence in refused.err


def test_a_tournament_that_goes_on_is_joined_and_left(cli: Cli) -> None:
    from arena.cli.bots import registration
    from arena.cli.workspace import Workspace
    from arena.store.matches.spec import Plan
    from arena.tournaments import scheduler

    workspace = Workspace()
    names = [
        registration.register(workspace, workspace.bot(f"sample:{one}")).id
        for one in ("meek", "bold")
    ]
    plan = Plan("x", "poke", {"must_beat": True}, 2, 1, format="ladder", settings={"limit": 30})
    made = scheduler.begin(workspace.store, plan, names)
    assert cli("tournament", "pause", made.id).status == 0
    assert cli("tournament", "add", made.id, "sample:greedy", "--owner", "ada").status == 0
    told = json.loads(cli("tournament", "withdraw", made.id, "meek@1", "--json").out)
    assert told["state"] == "paused"
    assert told["entrants"] == ["meek@1", "bold@1", "greedy@1"]
    assert told["matches"]["cancelled"] == 1
    again = cli("tournament", "add", made.id, "sample:greedy")
    assert again.status == 1
    assert "greedy@1 has entered tournament" in again.err
    assert (told["owners"], told["withdrawn"]) == ({"greedy@1": "ada"}, ["meek@1"])
