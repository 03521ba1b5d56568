"""Test published records: the output of a bot and the paths of this machine are removed."""

import json

from arena.records.redaction import pathless, published
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


def test_of_a_fault_what_happened_is_left() -> None:
    public_lines = published(ACTION + dump(FAULT) + ACTION)
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


def test_what_holds_no_fault_stays_as_it_is_to_the_byte() -> None:
    assert published(ACTION * 3) == ACTION * 3
    assert published("") == ""


def test_paths_lose_their_folders_and_nothing_else_does() -> None:
    assert pathless("in /root/a b/c") == "in …/a b/c"
    assert pathless("1/2 of http://host/x and 3/4/5") == "1/2 of http://host/x and 3/4/5"
