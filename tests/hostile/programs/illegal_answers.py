"""Answers with an illegal action."""

from typing import Any

from honest import play


def act(turn: Any) -> Any:
    answer = type(turn.legal[0])()
    answer.poke.lead.cards.extend(["AS", "KS", "QS"])
    return answer


play(act)
