"""Answers with an action that is none of the legal ones."""

from typing import Any

from honest import play


def act(turn: Any) -> Any:
    answer = type(turn.legal[0])()
    answer.poke.lead.cards.extend(["AS", "KS", "QS"])
    return answer


play(act)
