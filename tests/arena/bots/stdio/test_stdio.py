"""Test bots that read and write lines at a real table: accepted output, and the clock."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from pokearena.v1 import bot_pb2, bot_pb2_grpc, referee_pb2

from arena.bots.bot import Bot
from arena.bots.exit_report import Limits
from arena.bots.manifest import Manifest
from arena.bots.processes import Processes
from arena.bots.sandbox import available_levels
from arena.bots.socket_probe import listens
from tests.referee.authors import Author, TableResults, play
from tests.waiting import wait_until

HEAD = """
import json, os, signal, sys, time

def send(line):
    print(line if isinstance(line, str) else json.dumps(line), flush=True)

def questions():
    # Yield the questions, after "start" has been answered.
    for line in sys.stdin:
        request = json.loads(line)
        if "act" in request:
            yield request["act"]
        else:
            send({})

"""
PATIENCE = 30


class Programs:
    def __init__(self, folder: Path, stop_ms: int = 250) -> None:
        self.folder = folder
        self.processes = Processes(
            limits=Limits(output=1 << 20, stop_ms=stop_ms), level=available_levels.best_level()
        )

    def start(self, script: str) -> str:
        """Start a Python program that consists of HEAD and the script; return its address."""
        (self.folder / "bot.py").write_text(HEAD + textwrap.dedent(script))
        return self.run("python", "-u", "bot.py")

    def run(self, *command: str) -> str:
        bot_manifest = Manifest("bot", command, transport="stdio")
        return self.processes.start(0, Bot("bot", bot_manifest, self.folder))

    def play(
        self, script: str, boards: int = 1, allowance_ms: int = 20_000, corrections: int = 0
    ) -> TableResults:
        """Play a table of Poke against a house bot."""
        authors: list[Author | str] = [self.start(script), Author(games_in_flight=4)]
        return play(
            authors,
            boards,
            allowance_ms=allowance_ms,
            start_ms=PATIENCE * 1000,
            report=self.report,
            corrections=corrections,
        )

    def report(self, faulted: referee_pb2.BotFaulted) -> referee_pb2.BotReport:
        seat_report = self.processes.report(faulted.seat)
        return referee_pb2.BotReport(
            seat=faulted.seat,
            ended=seat_report.ended,
            resources=seat_report.resources,
            output=seat_report.output,
        )

    def output(self) -> str:
        self.processes.stop(0)
        return self.processes.ends(0)[-1].output


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    programs = Programs(tmp_path)
    with programs.processes:
        yield programs


@pytest.mark.long
def test_a_program_with_a_constant_answer_is_a_bot(programs: Programs) -> None:
    played = programs.play("for line in sys.stdin: send('0')", boards=2)
    assert played.verdicts == [["finished", "finished"]] * 2


def test_a_program_reads_whole_questions_and_answers_with_actions_or_choices_with_notes(
    programs: Programs,
) -> None:
    played = programs.play("""
        for line in sys.stdin:
            if not line.startswith('{"choices":'):
                send("0")
                continue
            number = int(line.split(":")[1].split(",")[0])
            turn = json.loads(line)["act"]
            assert number == len(turn["legal"]) > 0
            assert {"game", "decision", "seat", "luck", "complete"} < turn.keys()
            assert list(turn)[-2:] == ["legal", "view"]
            assert "\\n" not in line[:-1] and " " not in line.split('"legal"')[0]
            if turn["decision"] % 4 < 2:
                place = {"game": turn["game"], "decision": turn["decision"]}
                send({**place, "action": turn["legal"][0]})
            else:
                send({"choice": 0, "note": "ä first"})
    """)
    assert played.verdicts == [["finished", "finished"]]
    notes = {action.get("note") for action in played.games[0].actions if action["seat"] == 0}
    assert notes == {None, "ä first"}


def test_other_output_lines_and_stderr_go_to_the_log(
    programs: Programs,
) -> None:
    played = programs.play("""
        for turn in questions():
            send("I think of \\x1b[31m" + turn["view"]["poke"]["phase"])
            send("[1, 2] true null 3.5 0x1")
            send("")
            print("to stderr", file=sys.stderr)
            send("0")
    """)
    assert played.verdicts == [["finished", "finished"]]
    output = programs.output()
    assert "I think of \\x1b[31mdraw\n[1, 2] true null 3.5 0x1\n\nto stderr\n" in output


@pytest.mark.parametrize(
    ("answer", "verdict", "clause"),
    [
        ("7777", "protocol", "its choice is 7777, and the listed actions are 0 to"),
        ('{"note": "' + "x" * 2_000_000 + '"}', "protocol", "its line is longer than 1048576"),
        (
            '{"action": {"poke": {"lead": {"cards": ["2C", "2C"]}}}}',
            "illegal",
            'it answered "lead 2C 2C", which is not legal; legal: stand',
        ),
        ('{"game": 3, "decision": 9, "choice": 0}', "timeout", "it did not answer within"),
    ],
    ids=lambda value: value[:20],
)
def test_an_invalid_answer_gets_its_verdict_and_a_description(
    programs: Programs, answer: str, verdict: str, clause: str
) -> None:
    (programs.folder / "answer").write_text(answer)
    script = "for turn in questions(): send(open('answer').read())"
    limit = 300 if verdict == "timeout" else 20_000
    played = programs.play(script, allowance_ms=limit)
    assert played.verdicts == [[verdict, "finished"]]
    assert clause in played.sentences[0]


def test_the_fault_of_an_exited_program_has_its_status_and_output(
    programs: Programs,
) -> None:
    played = programs.play("for turn in questions(): sys.exit('I do not know this one')")
    assert played.verdicts == [["crash", "finished"]]
    assert played.sentences[0].endswith("its process exited with status 1")
    assert "I do not know this one" in played.games[0].faults[0]["output"]


def test_the_fault_of_a_killed_program_names_its_signal(programs: Programs) -> None:
    played = programs.play("for turn in questions(): signal.raise_signal(signal.SIGSEGV)")
    assert played.verdicts == [["crash", "finished"]]
    assert played.sentences[0].endswith("its process was killed by SIGSEGV")


@pytest.mark.long
def test_a_program_that_closes_stdout_breaks_the_protocol(
    programs: Programs,
) -> None:
    played = programs.play("for turn in questions(): os.close(1); time.sleep(600)")
    assert played.verdicts == [["protocol", "finished"]]


@pytest.mark.long
def test_a_program_that_cannot_be_found_does_not_start(programs: Programs) -> None:
    address = programs.run("./nothing")
    wait_until(lambda: programs.processes.ends(0))
    played = play([address, Author()], start_ms=1000, report=programs.report)
    assert played.verdicts == [["init", "finished"]]
    assert "exited with status 127" in played.sentences[0]
    assert "nothing could not be started: No such file" in played.games[0].faults[0]["output"]


def test_a_program_that_does_not_answer_start_fails_to_start(
    programs: Programs,
) -> None:
    address = programs.start("for line in sys.stdin: pass")
    wait_until(lambda: listens(address))
    played = play([address, Author()], start_ms=1000, report=programs.report)
    assert played.verdicts == [["init", "finished"]]
    assert "its Start did not return within 1 s" in played.sentences[0]


@pytest.mark.long
def test_a_late_answer_is_not_used_for_the_next_question(
    programs: Programs,
) -> None:
    played = programs.play(
        """
        def answer(turn):
            # Of the second game, or else illegal there.
            send({"action": turn["legal"][0], "note": f"{turn['game']} {turn['decision']}"})

        late = None
        for number, turn in enumerate(questions()):
            if number == 1:
                late = turn
                continue
            if late:
                answer(late)
                late = None
            answer(turn)
        """,
        boards=2,
        allowance_ms=2000,
    )
    assert played.verdicts == [["timeout", "finished"], ["finished", "finished"]]
    actions_of_seat = [action for action in played.games[1].actions if action["seat"] == 0]
    assert [action["note"] for action in actions_of_seat] == [
        f"1 {action['decision']}" for action in actions_of_seat
    ]
    assert "[stdio] too late: the answer" in programs.output()


CORRECTED = """
def questions():
    for line in sys.stdin:
        request = json.loads(line)
        if "act" in request:
            yield request["act"]
        else:
            send({"withCorrections": True})

def place(turn):
    return {name: turn[name] for name in ("game", "decision", "attempt")}

"""


@pytest.mark.long
@pytest.mark.parametrize("named", [True, False], ids=["attempt is copied", "attempt is omitted"])
def test_a_corrected_question_has_its_attempt_and_reason(programs: Programs, named: bool) -> None:
    script = f"""
for turn in questions():
    number = 0 if turn["attempt"] == 2 else 7777
    code = "unreadable" if turn["attempt"] else ""
    assert turn.get("correction", {{"code": ""}})["code"] == code
    send({{**place(turn), "choice": number}} if {named} else str(number))
"""
    played = programs.play(CORRECTED + script, corrections=2)
    assert played.verdicts == [["finished", "finished"]]
    own = [line for line in played.games[0].actions if line["seat"] == 0]
    assert {line["corrections"] for line in own} == {2}
    assert played.games[0].result["corrections"] == [2 * len(own), 0]


@pytest.mark.long
def test_a_late_answer_to_an_earlier_attempt_is_not_taken_for_the_new_one(
    programs: Programs,
) -> None:
    script = """
for turn in questions():
    if turn["attempt"]:
        send({**place(turn), "attempt": 0, "choice": 0})
    else:
        send({**place(turn), "choice": 7777})
"""
    played = programs.play(CORRECTED + script, allowance_ms=500, corrections=1)
    assert played.verdicts == [["timeout", "finished"]]
    assert played.games[0].result["corrections"] == [1, 0]
    assert "[stdio] no question is open for the answer" in programs.output()


@pytest.mark.long
def test_an_unsolicited_answer_breaks_the_protocol_at_the_next_question(
    programs: Programs,
) -> None:
    played = programs.play("for turn in questions(): sys.stdout.write('0\\n1\\n')")
    assert played.verdicts == [["protocol", "finished"]]
    assert "it had sent the answer 1 without a question" in played.sentences[0]
    assert "[stdio] no question is open for the answer 1" in programs.output()


@pytest.mark.parametrize("what", ["'x' * 4096", "'0\\n' * 2048"], ids=["one line", "answers"])
def test_endless_output_exceeds_the_resource_limit(programs: Programs, what: str) -> None:
    played = programs.play(f"for turn in questions():\n    while True: sys.stdout.write({what})")
    assert played.verdicts == [["resources", "finished"]]
    assert "wrote more than 1 MiB of output" in played.sentences[0]


@pytest.mark.long
@pytest.mark.usefixtures("unsandboxed")
def test_stdin_of_a_program_is_closed_at_the_end_of_the_table(programs: Programs) -> None:
    programs.play("""
        for line in sys.stdin:
            last = line
            send("0")
        print(f"the last line was {last}and then nothing", file=sys.stderr)
        open("done", "w").close()
        time.sleep(600)
    """)
    wait_until((programs.folder / "done").exists)
    assert 'the last line was {"end":{"match":"m-test"}}\nand then' in programs.output()


@pytest.mark.long
def test_the_signal_that_ends_a_table_reaches_the_program(tmp_path: Path) -> None:
    programs = Programs(tmp_path, stop_ms=60_000)
    with programs.processes:
        programs.play("""
            signal.signal(signal.SIGTERM, lambda *_: (print("last words"), sys.exit(0)))
            for turn in questions():
                send("0")
            while True:
                time.sleep(600)
        """)
        assert "last words" in programs.output()


def test_a_program_can_set_its_number_of_games_in_flight(programs: Programs) -> None:
    address = programs.start("""
        for line in sys.stdin:
            send({"gamesInFlight": 4, "withoutLegal": True, "withText": True})
    """)
    with grpc.insecure_channel(address) as channel:
        stub = bot_pb2_grpc.BotServiceStub(channel)
        answer = stub.Start(bot_pb2.StartRequest(), wait_for_ready=True, timeout=PATIENCE)
    assert answer == bot_pb2.StartResponse(games_in_flight=4, without_legal=True, with_text=True)


@pytest.mark.long
def test_questions_of_several_games_are_sent_on_separate_lines(programs: Programs) -> None:
    played = programs.play(
        """
        for line in sys.stdin:
            send("0" if "act" in line else {"gamesInFlight": 4})
        """,
        boards=4,
    )
    assert played.verdicts == [["finished", "finished"]] * 4
