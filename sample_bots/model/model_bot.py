"""A bot that plays with a language model. Edit the files in prompts/ and [model] in bot.toml.

It reads and writes lines (docs/reference/protocol.md of the arena) and needs Python 3.11 only.
"""

import json
import os
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from model_endpoint import HTTP_SOCKET, Endpoint, Message, TimeLimit
from model_replies import ACTION, ILLEGAL, TRANSPORT, Reading, Reply, listed_actions, read_reply

HERE = Path(__file__).parent
BANK_SHARE = 0.25
"""Part of the bank that one decision may use."""
RESERVE = 0.1
"""Part of the time of a decision that is left for the way to the arena, at most one second."""
FOREVER = 3600.0
TRACED_CHARACTERS = 60_000
"""Maximum length of the prompts and replies of a decision in `pokearena play --trace`."""
REASONING_CHARACTERS = 16 << 10
"""Maximum length of the replies of a decision that are sent as its reasoning."""


class ModelBot:
    """Answers questions with the replies of a model."""

    def __init__(self, settings: dict[str, Any], prompts: Path, hosted_model: str = "") -> None:
        is_hosted = HTTP_SOCKET in os.environ
        self._model: str = hosted_model if is_hosted and hosted_model else settings["model"]
        self._endpoint = Endpoint(
            "http://models/v1" if is_hosted else settings["base_url"],
            self._model,
            os.environ.get(settings.get("key", ""), ""),
            settings.get("parameters", {}),
            # The arena's proxy sends a reply when it is complete, and repeats failed requests.
            FOREVER if is_hosted else settings.get("stall_seconds", 20),
        )
        self._tries: int = settings.get("tries", 3)
        self._prices = settings.get("price_in", 0.0), settings.get("price_out", 0.0)
        self._system = (prompts / "system.md").read_text(encoding="utf-8")
        self._question = (prompts / "question.md").read_text(encoding="utf-8")
        self._corrections = tomllib.loads((prompts / "corrections.toml").read_text("utf-8"))
        self._rules = ""
        self._is_traced = False
        self._corrections_allowed = 0
        self._latest: list[Message] = []
        """The conversation of the latest question."""

    def start(self, start: dict[str, Any]) -> dict[str, Any]:
        """Prepare for a table, and request questions as text."""
        self._rules = start.get("rules", "")
        self._is_traced = start.get("traced", False)
        self._corrections_allowed = start.get("corrections", 0)
        return {"withText": True, "withCorrections": True}

    def act(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer a question; without a reply that names an action, play the first legal action."""
        limit = TimeLimit(seconds_for(question["clock"]))
        actions = listed_actions(question["text"])
        messages = self._messages(question)
        tries: list[Reading] = []
        replies: list[Reply] = []
        began = time.monotonic()
        for _ in range(self._tries):
            reply = self._endpoint.complete(messages, limit)
            replies.append(reply)
            tries.append(read_reply(reply, actions))
            messages.append({"role": "assistant", "content": reply.text or reply.failure})
            if tries[-1].kind in (ACTION, TRANSPORT):
                break
            if self._is_playable(question, tries[-1]):
                break
            messages.append({"role": "user", "content": self._correction(tries[-1])})
        self._latest = messages
        answer = self._answer(question, tries[-1])
        answer["reasoning"] = reasoning_of(replies)
        answer["usage"] = self._usage(replies, time.monotonic() - began)
        if self._is_traced:
            answer["trace"] = json.dumps(messages, ensure_ascii=False)[:TRACED_CHARACTERS]
        return answer

    def _usage(self, replies: list[Reply], seconds: float) -> dict[str, Any]:
        """Return what an answer has cost; the arena marks it as reported."""
        tokens = [sum(reply.tokens_in for reply in replies)]
        tokens.append(sum(reply.tokens_out for reply in replies))
        dollars = [price * count / 1e6 for price, count in zip(self._prices, tokens, strict=True)]
        return {
            **{"model": self._model, "tokensIn": tokens[0], "tokensOut": tokens[1]},
            **{"cost": sum(dollars), "tries": len(replies), "ms": round(1000 * seconds)},
        }

    def _messages(self, question: dict[str, Any]) -> list[Message]:
        """Return the conversation that asks a question, or continues after a correction."""
        if question.get("attempt") and self._latest:
            refused = Reading(ILLEGAL, detail=question["correction"]["text"])
            return [*self._latest, {"role": "user", "content": self._correction(refused)}]
        return [
            {"role": "system", "content": self._system.replace("{rules}", self._rules)},
            {"role": "user", "content": self._question.replace("{text}", question["text"])},
        ]

    def _correction(self, reading: Reading) -> str:
        text: str = self._corrections[reading.kind]
        return text.replace("{detail}", reading.detail)

    def _is_playable(self, question: dict[str, Any], reading: Reading) -> bool:
        """Return whether an unlisted action in words is worth an answer.

        It may be legal if not all actions are listed, and the arena corrects it if it is not.
        """
        corrections_left = self._corrections_allowed - question.get("attempt", 0)
        is_in_words = reading.kind == ILLEGAL and bool(reading.answer)
        return is_in_words and not question["complete"] and corrections_left > 0

    def _answer(self, question: dict[str, Any], reading: Reading) -> dict[str, Any]:
        place = {name: question.get(name, 0) for name in ("game", "decision", "attempt")}
        if reading.kind == ACTION or self._is_playable(question, reading):
            return {**place, "text": reading.answer, "note": reading.note}
        note = f"default action: {reading.kind}"
        print(f"{place}: {note}: {reading.detail}", file=sys.stderr, flush=True)
        return {**place, "choice": 0, "note": note, "playedDefault": True}


def reasoning_of(replies: list[Reply]) -> str:
    """Return the thoughts and the texts of replies, cut to `REASONING_CHARACTERS`."""
    texts = [text for reply in replies for text in (reply.thoughts, reply.text or reply.failure)]
    return "\n\n".join(filter(None, texts))[:REASONING_CHARACTERS]


def seconds_for(clock: dict[str, int]) -> float:
    """Return the time for a decision in seconds: the allowance, and a part of the bank."""
    seconds = (clock["allowanceMs"] + BANK_SHARE * clock["bankMs"]) / 1000
    return seconds - min(1.0, RESERVE * seconds)


def main() -> None:
    """Answer each line of standard input with a line."""
    manifest = tomllib.loads((HERE / "bot.toml").read_text(encoding="utf-8"))
    hosted_model = next(iter(manifest.get("models", [])), "")
    bot = ModelBot(manifest["model"], HERE / "prompts", hosted_model)
    for line in sys.stdin:
        message = json.loads(line)
        if "act" in message:
            answer = bot.act(message["act"])
        else:
            answer = bot.start(message["start"]) if "start" in message else {}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
