"""Vectorised self-play: many games in one process, with batched arrays."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from arena.rl.encoded_game import (
    EncodedGame,
    Observation,
    action_space,
    observation_space,
    standing,
)
from referee.games.contract import IllegalAction
from referee.games.shared.coded_errors import InvalidValue
from referee.games.shared.dealing import SEED_BYTES, Seeded


class SelfPlayVectorEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """Games whose seats are all played by the learner, one action in each game per step.

    The interface is that of Gymnasium's ``SyncVectorEnv``: a finished game is dealt again in the
    next step, which ignores its action and has the reward 0. The observation of a game is that of
    the seat to act. A reward is that of the seat that acted, caused by its action alone; the
    rewards of all seats are in the information:

    - ``infos["seat"]``: the seat of each observation, an array of `num_envs` integers.
    - ``infos["rewards"]``: the rewards of all seats, an array of shape (num_envs, seats).

    An illegal action ends its game and lowers the total reward of its seat to -1.

    Args:
        game: the game's id.
        num_envs: number of games.
        seats: number of seats.
        options: settings that differ from their defaults.
        reward: "places" or "points", as in :func:`arena.rl.raw_env`.
        copy: whether `step` and `reset` return copies of the arrays; without, they are overwritten
            by the next step.

    Raises:
        SetupError: the game cannot be played with these settings.
        ValueError: the reward is unknown.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012  # as in the base class

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        seats: int | None = None,
        options: Mapping[str, object] | None = None,
        reward: str = "places",
        copy: bool = True,
    ) -> None:
        self.tables = [EncodedGame(game, seats, options) for _ in range(num_envs)]
        table = self.tables[0]
        self.num_envs = num_envs
        self.single_observation_space = observation_space(table)
        self.single_action_space = action_space(table)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._standing = standing(reward)
        self._copy = copy
        self._chances = [Random() for _ in self.tables]
        self._stands = [(0.0,) * table.seats] * num_envs
        self._observations = np.zeros((num_envs, table.width), np.float32)
        self._masks = np.zeros((num_envs, table.encoding.size), np.int8)
        # A row is assigned through a memoryview in a fifth of the time of a NumPy assignment.
        self._observation_rows = [row.data for row in self._observations]
        self._mask_rows = [row.data.cast("B") for row in self._masks]
        self._seats = [0] * num_envs
        self._rewards = np.zeros((num_envs, table.seats))
        self._over = [False] * num_envs

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin all games.

        Args:
            seed: one seed for each game; an integer stands for itself and the following ones.
            options: not used.
        """
        seeds = range(seed, seed + self.num_envs) if isinstance(seed, int) else seed
        if seeds is not None and len(seeds) != self.num_envs:
            raise InvalidValue(
                f"there are {len(seeds)} seeds for {self.num_envs} games", code="seed-count"
            )
        for index, game_seed in enumerate(seeds or ()):
            if game_seed is not None:
                self._chances[index] = Random(game_seed)
        self._rewards[:] = 0
        for index in range(self.num_envs):
            self._deal(index)
            self._observe(index)
        return self._batch(), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[
        Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]
    ]:
        """Choose a number in each game; deal the games again that ended in the last step."""
        self._rewards[:] = 0
        rewards = [0.0] * self.num_envs
        for index, action in enumerate(np.asarray(actions).tolist()):
            if self._over[index]:
                self._deal(index)
            else:
                rewards[index] = self._play(index, action)
            self._observe(index)
        return (
            self._batch(),
            np.array(rewards),
            np.array(self._over),
            np.zeros(self.num_envs, np.bool_),
            self._infos(),
        )

    def _deal(self, index: int) -> None:
        table = self.tables[index]
        table.deal(Seeded(self._chances[index].randbytes(SEED_BYTES)))
        self._stands[index] = self._standing(table)
        self._over[index] = False

    def _play(self, index: int, action: int) -> float:
        """Choose a number in a game, and return the reward of the seat that acted."""
        table, before, seat = self.tables[index], self._stands[index], self._seats[index]
        try:
            table.choose(action)
        except IllegalAction:
            lost = self._rewards[index, seat] = -1 - before[seat]
            self._over[index] = True
            return lost
        self._over[index] = table.actor is None
        after = self._standing(table)
        if after == before:
            return 0.0
        self._stands[index] = after
        self._rewards[index] = np.subtract(after, before)
        return after[seat] - before[seat]

    def _observe(self, index: int) -> None:
        """Write the observation of the seat to act; at the end, of the seat that acted."""
        table = self.tables[index]
        seat = self._seats[index] if table.actor is None else table.actor
        self._seats[index] = seat
        self._observation_rows[index][:] = table.written_observation(seat)
        self._mask_rows[index][:] = table.written_mask(seat)

    def _batch(self) -> Observation:
        observations, masks = self._observations, self._masks
        if self._copy:
            observations, masks = observations.copy(), masks.copy()
        return {"observation": observations, "action_mask": masks}

    def _infos(self) -> dict[str, Any]:
        return {"seat": np.array(self._seats), "rewards": self._rewards.copy()}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, one row for each game."""
        return self._masks.astype(np.bool_)
