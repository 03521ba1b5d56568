"""Run every program of the corpus at every level of the sandbox that this machine offers."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from arena.bots.bot import Bot
from arena.bots.processes import Processes
from arena.bots.sandbox.level import Level
from referee.sanitizing import sanitized
from tests.errors import has_code
from tests.hostile.corpus import CONTAINED, FAULTS, LOCKED_IN, Hostile
from tests.hostile.hostile_environment import (
    SECRET,
    HostileEnvironment,
    HostileOutcome,
    started_world,
)
from tests.hostile.sandboxed_run import is_tried, need
from tests.hostile.traces import current_traces

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(180)]

MOST_MEMORY = 10 << 20
"""Maximum growth of the referee's memory by a hostile bot, in bytes."""
PATIENCE = 60.0
ROWS = [
    pytest.param(program, level, id=f"{program}-{level}")
    for number, program in enumerate((*FAULTS, *CONTAINED))
    for level in program.levels
    if is_tried(number, level)
]
SEEN = {Level.BUBBLEWRAP: set[str](), Level.LANDLOCK: {"abstract socket"}}
"""The channels that each level leaves open according to docs/explanation/containment.md."""
at_every_level = pytest.mark.parametrize("level", LOCKED_IN)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileEnvironment]:
    folder = tmp_path_factory.mktemp("w")
    with started_world(folder) as world:
        # Play an honest match first, so that its memory does not count for the first hostile one.
        world.play(world.bot("honest_bot"), Level.UNSANDBOXED)
        yield world


def remaining_traces(before: set[str]) -> set[str]:
    until = time.monotonic() + PATIENCE
    rest = current_traces() - before
    while rest and time.monotonic() < until:
        time.sleep(0.05)
        # Ignore what other processes of the machine have created meanwhile.
        rest &= current_traces()
    return rest


def findings(outcome: HostileOutcome) -> list[dict[str, str]]:
    """Return the results of attempts that the program printed."""
    findings_of_games = []
    for line in outcome.output().splitlines():
        with suppress(json.JSONDecodeError):
            findings_of_games.append(json.loads(line))
    return findings_of_games


@pytest.mark.parametrize(("hostile", "level"), ROWS)
def test_a_hostile_bot_gets_its_verdict_and_does_no_harm(
    world: HostileEnvironment,
    hostile: Hostile,
    level: Level,
    record_property: Callable[[str, object], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    need(level)
    monkeypatch.setenv("POKEARENA_SECRET", SECRET)
    before, memory = current_traces(), world.memory()
    outcome = world.play(world.bot(hostile.name), level, hostile.bank_ms, hostile.boards)
    _, sentence = hostile.wanted(level)
    expected = [hostile.wanted(level), *hostile.then] * 2
    got = outcome.verdicts(1)
    record_property("hostile", [hostile.name, str(level), *got])
    assert got == [verdict for verdict, _ in expected], (outcome.sentences, outcome.output())
    if outcome.sentences:
        sentences_of_games = [[fault.sentence for fault in game.faulted] for game in outcome.games]
        for sentences, (_, piece) in zip(sentences_of_games, expected, strict=True):
            assert [text_row for text_row in sentences if piece not in text_row] == []
    else:
        assert sentence in outcome.output()
    # Records, sentences and outputs can be printed without escaping.
    for text in (*outcome.sentences, outcome.output(), *(game.record for game in outcome.games)):
        assert sanitized(text) == text
    assert all(text_row.isprintable() for text_row in outcome.sentences)
    assert outcome.verdicts(0) == ["finished"] * len(expected)
    assert outcome.bank_used(0) == 0
    assert SECRET not in outcome.output()
    assert [
        f"{finding['way']}: {finding['got']}" for finding in findings(outcome) if "got" in finding
    ] == []
    assert remaining_traces(before) == set()
    assert world.memory() - memory < MOST_MEMORY


def test_an_answer_a_millisecond_before_the_deadline_is_in_time(world: HostileEnvironment) -> None:
    for _ in range(10):
        outcome = world.play(world.bot("in_time_by_a_millisecond"), Level.UNSANDBOXED, bank_ms=0)
        # On a busy machine the answer may arrive too late, which is a timeout.
        assert set(outcome.verdicts(1)) <= {"finished", "timeout"}
        for game, verdict in zip(outcome.games, outcome.verdicts(1), strict=True):
            if verdict == "finished" and _took_over_400_ms(game.record):
                return
    pytest.fail("it was never in time")


def _took_over_400_ms(record: str) -> bool:
    """Return whether an accepted answer of a game took over 400 of its 500 ms.

    There is no upper bound: the recorded time ends when the referee reads the answer, which on a
    busy machine is later than its arrival.
    """
    actions = [line for line in map(json.loads, record.splitlines()) if line["type"] == "action"]
    return any(line.get("ms", 0) > 400 for line in actions)


@at_every_level
@pytest.mark.parametrize("same", [True, False], ids=["a mirrored table", "the other seat"])
def test_two_bots_have_no_covert_channel(
    world: HostileEnvironment, level: Level, same: bool
) -> None:
    need(level)
    before = current_traces()
    first = world.bot("channel")
    second = first if same else world.bot("channel")
    with Processes(level=level) as first_row, Processes(level=level) as other:
        # Both processes run at the same time.
        for processes, bot in ((first_row, first), (other, second)):
            processes.start(0, bot)
            _await_word(processes, "met")
        output = other.report(0).output
    seen = {line["channel"] for line in map(json.loads, _lines(output)) if line["saw"]}
    assert seen <= SEEN[level], seen
    assert len(_lines(output)) == 17
    assert remaining_traces(before) == set()


def _lines(sentences: str) -> list[str]:
    return [line for line in sentences.splitlines() if line.startswith("{")]


def _await_word(processes: Processes, word: str) -> None:
    until = time.monotonic() + PATIENCE
    while word not in (report := processes.report(0)).output.split():
        assert not report.ended, report
        assert time.monotonic() < until, report
        time.sleep(0.05)


def test_an_untrusted_bot_does_not_play_without_a_sandbox(world: HostileEnvironment) -> None:
    from dataclasses import replace

    from arena.errors import InfrastructureError

    stranger = replace(world.bot("honest_bot"), trusted=False)
    assert isinstance(stranger, Bot)
    with pytest.raises(InfrastructureError, check=has_code("no-sandbox")):
        world.play(stranger, Level.UNSANDBOXED)


def test_a_bot_cannot_write_a_core_dump(world: HostileEnvironment) -> None:
    bot = world.bot("core_dump")
    assert bot.folder is not None
    outcome = world.play(bot, Level.UNSANDBOXED)
    # Where the kernel writes cores to another place, only the limit of one byte shows it.
    assert "core limit 1 1" in outcome.reports[1][0].output
    assert [path for path in Path(bot.folder).iterdir() if path.name.startswith("core")] == []
