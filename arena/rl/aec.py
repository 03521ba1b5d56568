"""PettingZoo environment (AEC) for every form of every game."""

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from arena.rl.encoded_game import (
    EncodedGame,
    Observation,
    action_space,
    observation_space,
    observed,
    standing,
)
from arena.rl.opponents import Opponent, Opponents
from arena.store.match_settings import Clock
from referee.games.shared.coded_errors import InvalidValue
from referee.games.shared.dealing import SEED_BYTES, Chance, Seeded

ANSI = "ansi"


class ArenaEnv(AECEnv):  # type: ignore[misc]  # PettingZoo has no type hints
    """A game whose agents are its seats without bots: ``seat_0`` and so on.

    Simultaneous decisions are made one after the other, and no agent observes the choices of the
    agents before it. A decision takes one step or several of the same agent
    (docs/how-to/training.md).
    """

    def __init__(
        self,
        game: str,
        seats: int | None = None,
        options: Mapping[str, object] | None = None,
        reward: str = "places",
        render_mode: str | None = None,
        bots: Mapping[int, Opponent] | None = None,
        data: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__()
        self.table = EncodedGame(game, seats, options)
        self.metadata = {
            "name": f"pokearena_{game}_v0",
            "render_modes": [ANSI],
            "is_parallelizable": False,
        }
        self.render_mode = render_mode
        self._standing = standing(reward)
        self._chance = Random()
        self._bots = dict(bots or {})
        self._seats = {f"seat_{n}": n for n in range(self.table.seats) if n not in self._bots}
        if not self._seats or not set(self._bots) <= set(range(self.table.seats)):
            raise InvalidValue(
                f"bots are at the seats {sorted(self._bots)}; possible are 0 to "
                f"{self.table.seats - 1}, and one seat must stay free",
                code="bot-seats",
            )
        self._opponents = Opponents(self.table, data, clock)
        self._opponents.check(list(self._bots.values()))
        self.possible_agents = list(self._seats)
        self.observation_spaces = {
            agent: observation_space(self.table) for agent in self.possible_agents
        }
        self.action_spaces = {agent: action_space(self.table) for agent in self.possible_agents}
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game.

        Args:
            seed: seed of the environment's random numbers.
            options: ``{"luck": luck}`` deals the cards from a chance source (the seed of a board,
                or arranged cards) instead of from the seed.
        """
        if seed is not None:
            self._chance = Random(seed)
        luck: Chance | None = (options or {}).get("luck")
        self.table.deal(luck or Seeded(self._chance.randbytes(SEED_BYTES)))
        self._opponents.seat(self._bots)
        self._opponents.act(self._chance)
        self._stands = self._standing(self.table)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._select()

    def _select(self) -> None:
        actor = self.table.actor
        self.agent_selection = self.agents[0] if actor is None else f"seat_{actor}"

    def observe(self, agent: str) -> Observation:
        return observed(self.table, self._seats[agent])

    def step(self, action: int | None) -> None:
        """Apply the action of the selected agent.

        Raises:
            IllegalAction: the mask of the action is 0; the game is unchanged.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert action is not None
        self.table.choose(int(action))
        self._opponents.act(self._chance)
        self._cumulative_rewards[agent] = 0
        before, after = self._stands, self._standing(self.table)
        if after == before:
            self.rewards = dict.fromkeys(self.agents, 0.0)
        else:
            self._stands = after
            for name in self.agents:
                seat = self._seats[name]
                self.rewards[name] = after[seat] - before[seat]
            self._accumulate_rewards()
        if self.table.actor is None:
            self.terminations = dict.fromkeys(self.agents, True)
        self._select()

    def render(self) -> str | None:
        """Return the position as text, with all hands open."""
        if self.render_mode != ANSI:
            return None
        return self.table.render(range(self.table.seats))

    def close(self) -> None:
        """End the processes of bots."""
        self._opponents.close()


def raw_env(game: str, **settings: Any) -> ArenaEnv:
    """Return the environment without wrappers: an illegal action raises IllegalAction.

    Args:
        game: the id of a registered game.
        settings: ``seats``, ``options``, ``reward`` ("places": -1 to 1 at the end; "points": the
            change of the lead in points), ``render_mode`` ("ansi"), ``bots`` (the bots by seat,
            which are not agents; see :class:`arena.rl.SeatEnv` for their names), ``data`` and
            ``clock`` (as in SeatEnv).

    Raises:
        SetupError: the game cannot be played with these settings.
        BotError: a bot does not exist, does not play the game or cannot be built.
    """
    return ArenaEnv(game, **settings)


def env(game: str, **settings: Any) -> AECEnv:
    """Return the environment with PettingZoo's standard wrappers.

    An illegal action ends the game with the reward -1 for its agent. Arguments are those of
    :func:`raw_env`.
    """
    legal = wrappers.TerminateIllegalWrapper(raw_env(game, **settings), illegal_reward=-1)
    bounded = wrappers.AssertOutOfBoundsWrapper(legal)
    return wrappers.OrderEnforcingWrapper(bounded)
