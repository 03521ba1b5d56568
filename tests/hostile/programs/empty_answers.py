"""Sends empty answers."""

from typing import Any

from honest import play


def act(turn: Any) -> Any:
    return type(turn.legal[0])()


play(act)
