"""Every form of every game as a PettingZoo environment: seats in turn (AEC)."""

from collections.abc import Mapping
from random import Random
from typing import Any

from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from arena.rl.table import Observation, Table, action_space, observation_space, observed, standing
from referee.dealing import SEED_BYTES, Chance, Seeded

ANSI = "ansi"


class ArenaEnv(AECEnv):  # type: ignore[misc]  # PettingZoo says no types
    """A game; agents are seats, ``seat_0`` and so on.

    Seats that choose at the same time choose one after the other, and none sees what those before
    it have chosen. A decision is one step or several of the same agent (docs/training.md).
    """

    def __init__(
        self,
        game: str,
        seats: int | None = None,
        options: Mapping[str, object] | None = None,
        reward: str = "places",
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.table = Table(game, seats, options)
        self.metadata = {
            "name": f"pokearena_{game}_v0",
            "render_modes": [ANSI],
            "is_parallelizable": False,
        }
        self.render_mode = render_mode
        self._standing = standing(reward)
        self._chance = Random()
        self.possible_agents = [f"seat_{seat}" for seat in range(self.table.seats)]
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
        """Begins a game; ``options={"luck": luck}`` has its cards dealt by a ``Luck`` (a seed of
        a board, cards arranged by hand) instead of by the seed."""
        if seed is not None:
            self._chance = Random(seed)
        luck: Chance | None = (options or {}).get("luck")
        self.table.deal(luck or Seeded(self._chance.randbytes(SEED_BYTES)))
        self._stands = self._standing(self.table)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._select()

    def _select(self) -> None:
        asked = self.table.asked
        self.agent_selection = self.agents[0] if asked is None else self.possible_agents[asked]

    def observe(self, agent: str) -> Observation:
        return observed(self.table, self.possible_agents.index(agent))

    def step(self, action: int | None) -> None:
        """Takes the action of the agent whose turn it is.

        Raises:
            IllegalAction: its mask is 0; the game stays as it was.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert action is not None
        self.table.choose(int(action))
        self._cumulative_rewards[agent] = 0
        before, self._stands = self._stands, self._standing(self.table)
        for seat, name in enumerate(self.agents):
            self.rewards[name] = self._stands[seat] - before[seat]
        if self.table.asked is None:
            self.terminations = dict.fromkeys(self.agents, True)
        self._select()
        self._accumulate_rewards()

    def render(self) -> str | None:
        """The position in text, all hands open."""
        if self.render_mode != ANSI:
            return None
        return self.table.told(range(self.table.seats))

    def close(self) -> None:
        """Nothing is open."""


def raw_env(game: str, **settings: Any) -> ArenaEnv:
    """The environment without wrappers: an illegal action raises IllegalAction.

    Args:
        game: "poke", "saint_poker", "pokex", "pouku" or "pokino".
        settings: ``seats``, ``options``, ``reward`` ("places": -1 to 1 at the end; "points": the
            lead in points as it changes) and ``render_mode`` ("ansi").

    Raises:
        SetupError: the game cannot be played like this.
    """
    return ArenaEnv(game, **settings)


def env(game: str, **settings: Any) -> AECEnv:
    """The environment as PettingZoo's own games are wrapped: an illegal action ends the game, with
    -1 for who made it. Arguments are those of :func:`raw_env`."""
    legal = wrappers.TerminateIllegalWrapper(raw_env(game, **settings), illegal_reward=-1)
    bounded = wrappers.AssertOutOfBoundsWrapper(legal)
    return wrappers.OrderEnforcingWrapper(bounded)
