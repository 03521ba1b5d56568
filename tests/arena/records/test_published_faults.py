"""Test published records: the output of a bot and the paths of this machine are removed."""

import json

from arena.records.published_faults import pathless, public_record
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


def test_lines_without_faults_are_not_changed() -> None:
    assert public_record(ACTION * 3) == ACTION * 3
    assert public_record("") == ""


def test_folders_are_removed_from_absolute_paths_only() -> None:
    assert pathless("in /root/a b/c") == "in …/a b/c"
    assert pathless("1/2 of http://host/x and 3/4/5") == "1/2 of http://host/x and 3/4/5"
