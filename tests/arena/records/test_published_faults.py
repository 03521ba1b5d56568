"""Test published records: the output of a bot and the paths of this machine are removed."""

import json

from arena.records.published_faults import pathless, public_record, without_data_of
from referee.record import dump

FAULT = {
    "type": "fault",
    "game": 0,
    "decision": 3,
    "seat": 1,
    "verdict": "crash",
    "sentence": "it exited with status 1, says /srv/arena/versions/ab/bot.py",
    "question": {"seat": 1},
    "ended": "exited with status 1",
    "output": "secret",
}
ACTION = '{"type":"action","game":0,"note":"a \\"fault\\" of mine \u2028 /srv/x/y"}\n'


def test_a_redacted_fault_keeps_its_public_fields() -> None:
    public_lines = public_record(ACTION + dump(FAULT) + ACTION)
    first, fault, last, end = public_lines.split("\n")
    assert (f"{first}\n", f"{last}\n", end) == (ACTION, ACTION, "")
    assert json.loads(fault) == {
        "type": "fault",
        "game": 0,
        "decision": 3,
        "seat": 1,
        "verdict": "crash",
        "sentence": "it exited with status 1, says …/bot.py",
    }


def test_every_field_that_reveals_a_bots_process_is_removed() -> None:
    private = ("question", "answer", "ended", "exit_status", "signal", "peak_memory", "output")
    kept = {"type": "fault", "seat": 1, "verdict": "crash", "sentence": "It crashed.", "ms": 5.0}
    line = dump(kept | dict.fromkeys((*private, "output_in"), "secret"))
    assert json.loads(public_record(line.rstrip("\n"))) == kept


def test_a_record_forgets_the_notes_and_the_output_of_some_versions() -> None:
    lines: list[dict[str, object]] = [
        {"type": "game", "game": 0, "seating": ["ada@1", "bob@1", "ada@2"]},
        *({"type": "action", "seat": seat, "ms": 1.0, "note": "mine"} for seat in range(3)),
        *(FAULT | {"seat": seat} for seat in range(3)),
        {"type": "result", "game": 0, "note": "of the referee"},
    ]
    record = "".join(map(dump, lines))
    left = [json.loads(line) for line in without_data_of(record, ["ada@1", "ada@2"]).splitlines()]
    private = {"note", "question", "ended", "output"}
    assert left == [
        {name: value for name, value in line.items() if name not in private}
        if line.get("seat") in (0, 2)
        else line
        for line in lines
    ]


def test_lines_without_faults_are_not_changed() -> None:
    assert public_record(ACTION * 3) == ACTION * 3
    assert public_record("") == ""


def test_folders_are_removed_from_absolute_paths_only() -> None:
    assert pathless("in /root/a b/c") == "in …/a b/c"
    assert pathless("1/2 of http://host/x and 3/4/5") == "1/2 of http://host/x and 3/4/5"
