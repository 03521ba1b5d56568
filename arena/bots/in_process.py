"""Load Python bots as functions of this process, to train and measure house bots.

The bot module is executed with a patched ``pokearena_bot.run``. It stores the bot instead of
serving it, so questions do not require processes. The bot runs without a sandbox: load only trusted
bots.
"""

import importlib.util
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pokearena.v1 import bot_pb2

from arena.bots.resolver import sample_folders

Choose = Callable[[bot_pb2.ActRequest], Any]
"""Function that answers a question with an ``Action``, or with an action and a note."""


def load(bot: str | Path, start: bot_pb2.StartRequest | None = None) -> Choose:
    """Return the function of a bot, after its start method if it has one.

    The bot gets separate copies of its sibling modules.

    Args:
        bot: the name of a house bot, or a folder with a ``bot.py`` that uses the Python kit.
        start: the request for the bot's start method, if the bot has one; None to skip it.
    """
    folder = bot if isinstance(bot, Path) else sample_folders()[bot]
    players: list[Any] = []
    siblings = [path.stem for path in folder.glob("*.py")]
    hidden = {name: sys.modules.pop(name) for name in siblings if name in sys.modules}
    sys.path.insert(0, str(folder))
    import pokearena_bot

    def store(bot: Any = None, games_in_flight: int | None = None, **functions: Any) -> None:
        players.append(bot or pokearena_bot.by_game(**functions))

    usual, pokearena_bot.run = pokearena_bot.run, store
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
    (player,) = players
    if not hasattr(player, "act"):
        return player  # type: ignore[no-any-return]
    if start is not None:
        player.start(start)
    return player.act  # type: ignore[no-any-return]


def answer(choose: Choose, question: bot_pb2.ActRequest) -> bot_pb2.Action:
    """Return a bot's answer, with random numbers seeded by the question as in the kit.

    The global random state is restored afterwards.
    """
    kept = random.getstate()
    random.seed(question.luck)
    try:
        move = choose(question)
    finally:
        random.setstate(kept)
    action: bot_pb2.Action = move[0] if isinstance(move, tuple) else move
    return action
