"""Partnerships: one entrant, two processes without shared data, one result."""

from pathlib import Path

import pytest

from referee.record import read
from tests.arena.cli.terminal import Cli, Write

# The process id would not do: bots in sandboxes of their own have equal ids.
TELLS_ITS_PROCESS = "import os\nreturn turn.legal[0], os.environ['POKEARENA_ADDRESS']"
SEAT_TWO_FAULTS = "if turn.seat == 2: raise SystemExit('seat two gives up')\nreturn turn.legal[0]"
PARTNERS = ("--seats", 4)


@pytest.mark.long
def test_partners_are_one_entrant_with_a_process_for_every_seat_of_both_seatings(
    cli: Cli, bot: Write
) -> None:
    telling = bot("telling", TELLS_ITS_PROCESS)
    words = ("play", "pokex", telling, telling, *PARTNERS, "--seed", 1, "--record", "m.jsonl")
    result = cli(*words, "--json")
    assert result.status == 0, result.err
    games = read(Path("m.jsonl").read_text()).games
    assert [game.game["seating"] for game in games] == [
        ["telling", "telling-2"] * 2,
        ["telling-2", "telling"] * 2,
    ]
    # The note is the address of a process.
    notes = {
        (game.game["table"], line["seat"]): line["note"] for game in games for line in game.actions
    }
    assert set(notes) == {(table, seat) for table in (0, 1) for seat in range(4)}
    assert len(set(notes.values())) == 8
    document = result.json
    assert [(row["bot"], row["games"]) for row in document["bots"]] == [
        ("telling", 2),
        ("telling-2", 2),
    ]
    for game in document["games"]:
        assert sorted(game["places"]) == [1, 2]
        assert len(game["scores"]) == len(game["verdicts"]) == 2


@pytest.mark.long
def test_the_fault_of_one_partner_is_that_of_the_entrant(cli: Cli, bot: Write) -> None:
    faulty = bot("faulty", SEAT_TWO_FAULTS)
    result = cli("play", "pokex", faulty, "sample:meek", *PARTNERS, "--seed", 1, "--json")
    assert result.status == 1
    document = result.json
    assert document["games"][0]["verdicts"] == ["crash", "finished"]
    assert document["games"][0]["places"] == [2, 1]
    assert (document["fault"]["bot"], document["fault"]["seat"]) == ("faulty", 2)


@pytest.mark.long
def test_a_replay_labels_partners_with_their_seats(cli: Cli) -> None:
    words = ("sample:meek", "sample:random", *PARTNERS, "--seed", 1, "--watch")
    result = cli("play", "pokex", *words)
    assert "meek/1" in result.out
    assert "meek/3" in result.out
    assert "result: " in result.out
    assert result.out.partition("result: ")[2].splitlines()[0].count("meek") <= 2


@pytest.mark.long
def test_a_partnership_is_ranked_as_one(cli: Cli) -> None:
    bots = ("sample:meek", "sample:random", "sample:bold")
    result = cli("tournament", "run", "pokex", *bots, *PARTNERS, "-n", 1, "--seed", "x", "--json")
    assert result.status == 0, result.err
    document = result.json
    assert document["form"] == "pokex-4"
    assert [(standing["matches"], standing["games"]) for standing in document["standings"]] == [
        (2, 4)
    ] * 3
    assert all(len(match["entrants"]) == 2 for match in document["schedule"])
