"""Reinforcement learning environments for the arena's games (docs/how-to/training.md).

For example::

    from arena.rl import env

    e = env(game, seats=2, reward="points", render_mode="ansi")
    e.reset(seed=7)
    for agent in e.agent_iter():
        observation, reward, terminated, truncated, info = e.last()
        over = terminated or truncated
        e.step(None if over else e.action_space(agent).sample(observation["action_mask"]))

``SeatEnv``, or ``gymnasium.make("pokearena/GAME-v0")``, has one seat against bots.
``SelfPlayVectorEnv`` plays many games at once.
Requires the extra ``rl``: ``pip install "pokearena[rl]"``.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.presentation` and `arena.store`. No other
package uses it.
"""

try:
    import gymnasium
    import pettingzoo  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f'{error.name} is not installed; arena.rl requires pip install "pokearena[rl]"'
    ) from error

from arena.rl.aec import ArenaEnv, env, raw_env
from arena.rl.opponents import OpponentFault
from arena.rl.seat import SeatEnv
from arena.rl.vector import SelfPlayVectorEnv
from arena.store.match_settings import Clock
from referee.games.registry import GAMES

__all__ = [
    "ArenaEnv",
    "Clock",
    "OpponentFault",
    "SeatEnv",
    "SelfPlayVectorEnv",
    "env",
    "raw_env",
]

for _game in GAMES:
    gymnasium.register(f"pokearena/{_game}-v0", "arena.rl:SeatEnv", kwargs={"game": _game})
