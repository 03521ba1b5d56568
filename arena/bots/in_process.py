"""Bots in Python as functions, in this process: what house bots are trained and measured against.

A bot is a program that serves a kit. Here it is loaded with a kit that hears it instead of serving
it, so that it can be asked without processes; that is no sandbox, and only for bots one trusts.
"""

import importlib.util
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pokearena.v1 import bot_pb2

from arena.bots.resolver import house_folder

Choose = Callable[[bot_pb2.ActRequest], Any]
"""What answers a question: an ``Action``, or one with a note."""


def load(bot: str | Path, start: bot_pb2.StartRequest | None = None) -> Choose:
    """The function of a bot that has been told the start of a table.

    Its sibling modules are loaded for it alone.

    Args:
        bot: the name of a house bot, or the folder of a ``bot.py`` that uses the Python kit.
        start: what it is told first, if it listens.
    """
    folder = bot if isinstance(bot, Path) else house_folder() / bot
    heard: list[Any] = []
    siblings = [path.stem for path in folder.glob("*.py")]
    hidden = {name: sys.modules.pop(name) for name in siblings if name in sys.modules}
    sys.path.insert(0, str(folder))
    import pokearena_bot

    usual, pokearena_bot.run = pokearena_bot.run, lambda bot, *_: heard.append(bot)
    try:
        spec = importlib.util.spec_from_file_location("__main__", folder / "bot.py")
        assert spec is not None
        assert spec.loader is not None
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    finally:
        pokearena_bot.run = usual
        sys.path.remove(str(folder))
        for sibling in siblings:
            sys.modules.pop(sibling, None)
        sys.modules.update(hidden)
    (player,) = heard
    if not hasattr(player, "act"):
        return player  # type: ignore[no-any-return]
    if start is not None:
        player.start(start)
    return player.act  # type: ignore[no-any-return]


def answer(choose: Choose, question: bot_pb2.ActRequest) -> bot_pb2.Action:
    """What a bot answers, its random numbers following from the question's luck as in the kit;
    everybody else's stay as they are."""
    kept = random.getstate()
    random.seed(question.luck)
    try:
        move = choose(question)
    finally:
        random.setstate(kept)
    action: bot_pb2.Action = move[0] if isinstance(move, tuple) else move
    return action
