"""Local matches: `play --list`, the name `last`, and how many records are kept."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.arena.cli.terminal import POKEARENA, Cli, Write

PLAYS = Path(".pokearena/plays")
BOTS = ("sample:meek", "sample:random")


def kept(played: Path, *names: str) -> None:
    """Copy a record to these match ids, one second apart, the oldest first."""
    PLAYS.mkdir(parents=True, exist_ok=True)
    text = played.read_text()
    match = json.loads(text.partition("\n")[0])["match"]
    for second, name in enumerate(names):
        path = PLAYS / f"{name}.jsonl"
        path.write_text(text.replace(match, name))
        os.utime(path, (1_000_000 + second, 1_000_000 + second))


def ids(cli: Cli) -> list[str]:
    return [json.loads(line)["match"] for line in cli("play", "--list", "--json").out.splitlines()]


@pytest.mark.long
def test_the_list_shows_the_newest_match_first(cli: Cli, played: Path) -> None:
    kept(played, "m-aaaaaaaaaa", "m-bbbbbbbbbb")
    listed = cli("play", "--list")
    assert listed.status == 0
    head, first, second = listed.out.splitlines()
    assert head.split() == ["id", "time", "game", "bots", "games", "won", "drawn", "faults"]
    assert [first.split()[0], second.split()[0]] == ["m-bbbbbbbbbb", "m-aaaaaaaaaa"]
    assert "greedy v random" in first
    document = json.loads(cli("play", "--list", "--json").out.splitlines()[1])
    assert document["match"] == "m-aaaaaaaaaa"
    assert document["time"] == "1970-01-12T13:46:40.000+00:00"
    assert (document["game"], document["games"], document["total"]) == ("poke", 2, 2)
    assert [bot["bot"] for bot in document["bots"]] == ["greedy", "random"]
    assert sum(bot["wins"] for bot in document["bots"]) + document["drawn"] == 2


@pytest.mark.long
def test_listed_wins_match_the_result(cli: Cli) -> None:
    result = cli("play", "poke", *BOTS, "-n", 3, "--seed", "1", "--json").json
    (document,) = cli("play", "--list", "--json").documents
    assert [bot["wins"] for bot in document["bots"]] == [bot["wins"] for bot in result["bots"]]
    assert document["record"] == str(Path(result["record"]))


def test_empty_folders_and_other_files_are_ignored(cli: Cli) -> None:
    assert (cli("play", "--list").status, cli("play", "--list", "--json").out) == (0, "")
    PLAYS.mkdir(parents=True)
    for name, text in (("m-1", ""), ("m-2", "{}"), ("m-3", '{"type":"match"}'), ("m-4", "no")):
        (PLAYS / f"{name}.jsonl").write_text(text)
    (PLAYS / "m-5.jsonl").write_bytes(b'{"type":"match"\xff')
    assert ids(cli) == []


def test_last_is_the_newest_match_in_every_command(cli: Cli, played: Path) -> None:
    kept(played, "m-zzzzzzzzzz", "m-aaaaaaaaaa")
    newest = "m-aaaaaaaaaa"
    assert cli("verify", "last", "--json").json["match"] == newest
    assert cli("why", "last", "--json").json["match"] == newest
    replayed = cli("replay", "last", "--html", "replay.html", "--json")
    assert replayed.json["match"] == newest
    assert cli("replay", "last", "--game", 0).last.endswith("pokearena verify last")
    assert cli("logs", "last").last.endswith("pokearena replay last")
    result = cli("ask", "last:0:0", "sample:greedy", "--json")
    assert result.json["match"] == newest


def test_last_without_a_local_match_is_refused(cli: Cli) -> None:
    for words in (("replay", "last"), ("verify", "last"), ("ask", "last:0:0", "sample:meek")):
        refused = cli(*words)
        assert (refused.status, refused.code) == (2, "unknown-match")


@pytest.mark.long
def test_the_oldest_matches_and_the_output_of_their_bots_are_deleted(
    cli: Cli, played: Path
) -> None:
    kept(played, "m-aaaaaaaaaa", "m-bbbbbbbbbb", "m-cccccccccc")
    outputs = Path(".pokearena/logs/matches")
    for name in ("m-aaaaaaaaaa", "m-cccccccccc", "m-inthearena"):
        (outputs / name).mkdir(parents=True)
        (outputs / name / "greedy.log").write_text("hello")
    match = cli("play", "poke", *BOTS, "--json", "--keep", 2).json["match"]
    assert ids(cli) == [match, "m-cccccccccc"]
    assert sorted(path.name for path in outputs.iterdir()) == ["m-cccccccccc", "m-inthearena"]


@pytest.mark.long
def test_the_same_match_again_replaces_its_record_and_is_the_last(
    cli: Cli, played: Path, bot: Write
) -> None:
    talker = bot("talker", 'print("hello", flush=True)\nreturn turn.legal[0]')
    words = ("play", "poke", talker, "sample:meek", "--seed", "1", "--json")
    match = cli(*words).json["match"]
    output = Path(".pokearena/logs/matches", match, "talker.log")
    once = output.read_text()
    kept(played, "m-aaaaaaaaaa")
    os.utime(PLAYS / "m-aaaaaaaaaa.jsonl")
    assert ids(cli) == ["m-aaaaaaaaaa", match]
    assert cli(*words).json["match"] == match
    assert ids(cli) == [match, "m-aaaaaaaaaa"]
    assert output.read_text() == once


@pytest.mark.parametrize(
    "words", [(), ("poke",), ("--list", "poke"), ("poke", *BOTS, "--keep", "0")]
)
def test_invalid_combinations_of_arguments_are_refused(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli("play", *words).status == 2
    assert not Path(".pokearena").exists()


@pytest.mark.long
def test_matches_played_at_the_same_time_do_not_disturb_each_other(cwd: Path) -> None:
    seeds = ["1", "1", "2", "3"]
    running = [
        subprocess.Popen(
            [POKEARENA, "play", "poke", *BOTS, "--seed", seed, "--json", "--keep", "2"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in seeds
    ]
    documents = [json.loads(process.communicate()[0]) for process in running]
    assert [process.returncode for process in running] == [0] * len(seeds)
    assert documents[0]["games"] == documents[1]["games"]
    records = list(PLAYS.glob("*"))
    assert len(records) == 2
    checked = subprocess.run([POKEARENA, "verify", *records], check=False)
    assert checked.returncode == 0
