"""Records in which a bot crashes, with given texts."""

import json


def crashed(text: str, game: int | None = None, note: str = "", **members: object) -> str:
    """Let seat 1 crash at decision 3 of a game, by default of the first one.

    Args:
        text: the record of one or several games.
        game: the number of the game.
        note: the note of every action; empty for no notes.
        members: further members of the fault.
    """
    lines = [json.loads(line) for line in text.splitlines()]
    results = [line for line in lines if line["type"] == "result"]
    result = next(line for line in results if game in (None, line["game"]))
    for line in lines:
        if note and line["type"] == "action":
            line["note"] = note
    fault = {
        "type": "fault",
        "game": result["game"],
        "decision": 3,
        "seat": 1,
        "verdict": "crash",
        "clock": {"ms": 12.5, "limit_ms": 300, "allowance_ms": 200, "bank_ms": 100},
    }
    result["verdicts"][1] = "crash"
    lines.insert(lines.index(result), fault | members)
    # As an arena of an older version could have stored it: hidden characters are not escaped.
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
