"""A person plays in a terminal: `pokearena play GAME BOT human`."""

import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random

import pytest

from arena.cli.matches import local_matches
from arena.cli.workspace import Workspace
from arena.errors import BadName
from arena.presentation.narration import outcome
from arena.store.bots import versions
from arena.submissions import admission
from referee.record import MatchRecord, read
from referee.replay import steps, verify
from tests.arena.cli.terminal import Cli, Terminal, in_a_terminal
from tests.arena.view_texts import texts_in

GAMES = {
    "poke": ("human", "sample:random"),
    "saint_poker": ("sample:random", "human", "sample:greedy"),
    "pokex": ("human", "sample:random"),
    "pouku": ("human", "sample:random", "sample:greedy"),
    "pokino": ("sample:random", "human"),
}
HEADER = re.compile(r"game (\d+) · decision (\d+) · human, seat (\d)")
CARD = re.compile(r"\b([2-9TJQKA])([♣♦♥♠])|\b(X[12])\b")
DOMINO = re.compile(r"(?<![\d,-])\d{1,2}-\d{1,2}(?![\d,-])")
SUITS = dict(zip("♣♦♥♠", "CDHS", strict=True))
RECORD = ("--record", "m.jsonl")


def play_to_the_end(terminal: Terminal, chance: Random) -> None:
    """Answer all questions of a game with random actions, chosen by number."""
    menu = r"decision(?:(?!decision).)*?(\d+) actions?[^\n]*help"
    while count := terminal.matches(f"{menu}|result: ")[1]:
        terminal.press(f"{chance.randint(1, int(count))}\n")


def shown_cards(transcript: str) -> Iterator[tuple[int, int, set[str]]]:
    """Yield each decision and its seat, from 0, and the cards and dominoes that are shown."""
    headers = list(HEADER.finditer(transcript))
    ends = [header.start() for header in headers[1:]] + [transcript.find("· end")]
    for header, end in zip(headers, ends, strict=True):
        text = transcript[header.end() : end]
        cards = {joker or rank + SUITS[suit] for rank, suit, joker in CARD.findall(text)}
        yield int(header[2]) - 1, int(header[3]) - 1, cards | set(DOMINO.findall(text))


def recorded(path: str = "m.jsonl") -> MatchRecord:
    return read(Path(path).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "game",
    [
        "saint_poker",
        pytest.param("pokino", marks=pytest.mark.long),
        *(
            pytest.param(game, marks=[pytest.mark.long, pytest.mark.repetition])
            for game in ("poke", "pokex", "pouku")
        ),
    ],
)
def test_a_person_completes_a_game_and_sees_only_what_the_seat_may_see(
    game: str, cwd: Path
) -> None:
    words = ("play", game, *GAMES[game], "--seed", "h", *RECORD)
    with in_a_terminal(cwd, *words, columns=80) as terminal:
        play_to_the_end(terminal, Random(game))
        terminal.sees("next")
        assert terminal.ends() == 0
    record = recorded()
    assert verify(record) == []
    assert record.match["tables"] == 1
    (kept,) = local_matches.summaries(Workspace())
    assert kept["games"] == kept["total"] == 1
    (finished,) = record.games
    assert finished.faults == ()
    positions = {
        line["decision"]: step.state
        for step in steps(record.match, finished, record.seed or b"")
        for line in step.lines
    }
    questions = list(shown_cards(terminal.transcript))
    (person,) = {seat for _, seat, _ in questions}
    assert finished.game["seating"][person].startswith("human")
    assert len(questions) == sum(line["seat"] == person for line in finished.actions)
    assert outcome(finished, person) in terminal.transcript
    for decision, seat, visible in questions:
        view = positions[decision].view(seat)
        assert visible <= set(texts_in(asdict(view))), f"decision {decision}"
        assert set(view.hand) <= visible


@pytest.mark.long
def test_the_partner_of_a_person_is_a_bot(cwd: Path) -> None:
    bots = ("human", "sample:random", "--partner", "sample:meek")
    with in_a_terminal(cwd, "play", "pokex", *bots, *RECORD) as terminal:
        terminal.sees("? help")
        assert "meek" in terminal.text
        assert HEADER.search(terminal.text)
        terminal.interrupt()
        assert terminal.ends() == 130
    assert recorded().match["entrants"][0] == ["human+meek", ""]


@pytest.mark.long
def test_ctrl_c_keeps_the_unfinished_game_and_restores_the_terminal(cwd: Path) -> None:
    words = ("play", "pouku", "human", "sample:meek", "sample:random", "-n", "3", *RECORD)
    with in_a_terminal(cwd, *words) as terminal:
        play_to_the_end(terminal, Random(1))
        terminal.sees("Enter: play the next game")
        terminal.press("\n")
        terminal.sees("game 2 · decision")
        terminal.press("1\n")
        terminal.sees("game 2 · decision")
        terminal.interrupt()
        terminal.sees("interrupted in game 2 of 3")
        assert terminal.ends() == 130
        assert terminal.echoes
    record = recorded()
    assert [game.game["board"] for game in record.games] == [0, 1]
    assert verify(record) == []
    finished, unfinished = record.games
    assert finished.faults == ()
    (left,) = unfinished.faults
    assert (left["seat"], left["verdict"]) == (0, "crash")
    own_actions = [line for line in unfinished.actions if line["seat"] == 0]
    assert [line.get("by") for line in own_actions] == [None, "referee"]


@pytest.mark.long
def test_the_end_of_the_input_ends_the_match(cwd: Path) -> None:
    with in_a_terminal(cwd, "play", "poke", "human", "sample:meek", *RECORD) as terminal:
        terminal.sees("? help")
        terminal.press("\x04")
        assert terminal.ends() == 130
    (unfinished,) = recorded().games
    assert [fault["seat"] for fault in unfinished.faults] == [0]


@pytest.mark.long
def test_several_people_take_turns_at_the_keyboard(cwd: Path) -> None:
    words = ("play", "saint_poker", "human", "human", "--seed", "2")
    with in_a_terminal(cwd, *words) as terminal:
        for person in ("human", "human-2"):
            terminal.sees("Pass the keyboard to")
            pressed = terminal.text
            assert not CARD.search(pressed[pressed.index("Pass") :])
            name = re.findall(r"Pass the keyboard to (\S+)", pressed)[-1]
            terminal.press("\n")
            terminal.sees(f"{name}, seat")
            assert name in ("human", "human-2")
            if person == "human":
                terminal.press("1\n")
        terminal.interrupt()
        assert terminal.ends() == 130


@pytest.mark.long
def test_keys_show_the_current_rules_and_the_whole_table(cwd: Path) -> None:
    with in_a_terminal(cwd, "play", "poke", "human", "sample:meek", "--seed", "1") as terminal:
        terminal.sees("? help")
        terminal.press("?")
        terminal.sees("P-2.2")
        terminal.press("q")
        terminal.sees("? help")
        terminal.press("=")
        terminal.sees("score pad")
        terminal.press("q")
        terminal.sees("? help")
        terminal.press("zz\n")
        terminal.sees("no action matches")
        terminal.interrupt()
        assert terminal.ends() == 130


@pytest.mark.long
def test_thinking_time_is_unlimited_unless_it_is_set(cwd: Path) -> None:
    words = ("play", "poke", "human", "sample:meek", "--think", "1", *RECORD)
    with in_a_terminal(cwd, *words) as terminal:
        terminal.sees("left")
        terminal.sees("timeout")
        terminal.sees("next  pokearena why")
        assert terminal.ends() == 1
    ((fault,),) = [game.faults for game in recorded().games]
    assert fault["verdict"] == "timeout"


@pytest.mark.parametrize("option", [("--think", "5"), ("--partner", "sample:meek")])
def test_options_of_a_person_are_refused_without_one(cli: Cli, option: tuple[str, str]) -> None:
    result = cli("play", "poke", "sample:greedy", "sample:random", *option)
    assert (result.status, result.code) == (2, "option-combination")


def test_a_person_needs_a_terminal(cli: Cli) -> None:
    result = cli("play", "poke", "sample:greedy", "human")
    assert (result.status, result.code) == (2, "no-terminal")


@pytest.mark.parametrize("option", ["--json", "--watch"])
def test_a_person_cannot_be_combined_with_json_output(cli: Cli, option: str) -> None:
    result = cli("play", "poke", "sample:greedy", "human", option)
    assert (result.status, result.code) == (2, "option-combination")


@pytest.mark.parametrize(
    "words",
    [
        ("bot", "add", "human"),
        ("bot", "add", "sample:greedy", "--name", "human"),
        ("bot", "add", "--remote", "human"),
        ("tournament", "run", "poke", "human", "sample:greedy"),
        ("test", "human"),
    ],
)
def test_people_are_never_rated(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli(*words).status == 2


def test_no_bot_can_take_the_name_of_a_person(cwd: Path) -> None:
    store = Workspace(cwd / "data").store
    with pytest.raises(BadName):
        versions.add_version(store, "human", "1", "0" * 64, "/folder", {})
    with pytest.raises(admission.SubmissionRefused) as refused:
        admission.check(store, "ana", "human", "0" * 64)
    assert refused.value.status == 422


@pytest.mark.long
def test_a_narrow_terminal_without_colours_cuts_nothing_off_but_the_keys(cwd: Path) -> None:
    words = ("play", "poke", "human", "sample:meek", "--seed", "1")
    environment = {"NO_COLOR": "1"}
    with in_a_terminal(cwd, *words, columns=40, lines=16, environment=environment) as terminal:
        output: list[bytes] = []
        terminal.on_output = output.append
        terminal.sees("hand: ")
        terminal.sees("> ")
        terminal.press("0\n")
        terminal.sees("numbers are 1 to")
        terminal.interrupt()
        assert terminal.ends() == 130
    menus = b"".join(output).decode().split("decision")[1].split("numbers are")[0]
    assert re.search(r"\x1b\[[0-9;]*3[0-7]", menus) is None
    assert max(map(len, terminal.transcript.splitlines()[1:16])) <= 40
