"""Fuzz the bridge of bots that use JSON lines."""

import json
import random
from collections import Counter
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from pokearena.v1 import bot_pb2

from arena.bots.stdio import program_lines
from tests.fuzz.decoder import LONGEST_SENTENCE, new_game, tried

JUNK: Final[tuple[Any, ...]] = (
    *(None, True, -1, 0.5, 1e400, 1 << 70, float("nan")),
    *("x", "\ud800", "\x00", "9" * 400, [], {}, [[]], {"a": 1}),
)
NAMES: Final = ("game", "decision", "choice", "note", "action", "poke", "x")


def fuzz(messages: int, seed: str) -> Counter[str]:
    """Fuzz with this number of lines; count answers, malformed lines and lines for the log.

    Raises:
        Exception: a line belongs to none of these kinds.
    """
    rng = random.Random(f"lines/{seed}")
    questions = [
        request.question for table in tried() for request in new_game(table, 1).asked.values()
    ]
    verdicts: Counter[str] = Counter()
    for _ in range(messages):
        question = rng.choice(questions)
        verdicts[_judged(_line(question, rng), question)] += 1
    return verdicts


def _judged(line: bytes, question: bot_pb2.ActRequest) -> str:
    if not program_lines.is_answer(line):
        return "for the log"
    for understand in (
        program_lines.start_response,
        lambda sentence: program_lines.act_response(sentence, question),
    ):
        try:
            understand(program_lines.read(line)).SerializeToString()
        except program_lines.Malformed as malformed:
            sentence = str(malformed)
        else:
            sentence = ""
        sentence.encode()
        assert len(sentence) <= LONGEST_SENTENCE
    return "malformed" if sentence else "answers"


def _line(question: bot_pb2.ActRequest, rng: random.Random) -> bytes:
    good: dict[str, Any] = {"choice": rng.randrange(-2, 400)}
    if rng.random() < 0.7:
        action = MessageToDict(rng.choice(question.legal))
        good = {"game": question.game, "decision": question.decision, "action": action}
    made = bytearray(json.dumps(_changed(good, rng)).encode())
    if rng.random() < 0.3:
        for _ in range(3):
            made[rng.randrange(len(made))] = rng.randrange(256)
    return bytes(made).replace(b"\n", b" ")


def _changed(value: Any, rng: random.Random) -> Any:
    if rng.random() < 0.15:
        return rng.choice(JUNK)
    if isinstance(value, dict) and value:
        name = rng.choice(list(value))
        changed = {**value, name: _changed(value[name], rng)}
        return changed | ({rng.choice(NAMES): rng.choice(JUNK)} if rng.random() < 0.2 else {})
    if isinstance(value, list) and value:
        place = rng.randrange(len(value))
        return [*value[:place], _changed(value[place], rng), *value[place + 1 :]]
    return rng.choice(JUNK) if rng.random() < 0.5 else value
