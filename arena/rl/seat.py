"""Gymnasium environment with one learning seat against bots."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from arena.rl.encoded_game import (
    EncodedGame,
    Observation,
    Standing,
    action_space,
    observation_space,
    observed,
    potential,
    standing,
)
from arena.rl.opponents import Opponent, Opponents, one_each
from arena.store.match_settings import Clock
from referee.games.contract import IllegalAction
from referee.games.shared.coded_errors import InvalidValue
from referee.games.shared.dealing import SEED_BYTES, Chance, Seeded

ANSI = "ansi"


class SeatEnv(gymnasium.Env[Observation, int]):
    """A game in which the learner has one seat and bots have all others, a partner's included.

    House bots run in this process and receive the same questions as from the referee. All other
    bots run in sandboxed processes, with the time limits of a match; `close` ends them. A fault of
    such a bot raises OpponentFault, and the next `reset` starts it again. An illegal action of the
    learner is a fault, as at a table: it ends the game and lowers the total reward to -1.

    Args:
        game: the game's id.
        seats: number of seats.
        options: settings that differ from their defaults.
        against: a bot for all other seats, or one for each of them in order: the name of a house
            bot, another bot as on the command line ("name@version", a folder), or a function of a
            question.
        seat: the learner's seat; if omitted, it is random in every game.
        reward: "places" or "points", as in :func:`arena.rl.raw_env`.
        shaping: "lead", or a function of the table that returns a potential for each seat. Each
            step adds ``discount`` times the potential after it, minus that before it; the potential
            of a finished game is 0. Optimal policies are those without shaping (Ng, Harada and
            Russell, 1999, "Policy invariance under reward transformations").
        discount: the discount factor of the learner, for ``shaping``.
        render_mode: "ansi": the position as text, from the learner's view.
        data: the data folder of stored bots; by default as on the command line.
        clock: the time limits of bots in processes of their own; by default those of a match.

    Raises:
        SetupError: the game cannot be played with these settings.
        BotError: a bot does not exist, does not play the game or cannot be built.
        ValueError: the seat does not exist, or the number of bots is wrong.
    """

    metadata = {"render_modes": [ANSI], "render_fps": 1}  # noqa: RUF012  # as in the base class

    def __init__(
        self,
        game: str,
        seats: int | None = None,
        options: Mapping[str, object] | None = None,
        against: Opponent | Sequence[Opponent] = "greedy",
        seat: int | None = None,
        reward: str = "places",
        shaping: str | Standing | None = None,
        discount: float = 1.0,
        render_mode: str | None = None,
        data: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.table = EncodedGame(game, seats, options)
        self.render_mode = render_mode
        self.observation_space = observation_space(self.table)
        self.action_space = action_space(self.table)  # type: ignore[assignment]  # NumPy integers
        self._standing = standing(reward)
        self._potential = potential(shaping)
        self._discount = discount
        others = self.table.seats - 1
        if seat is not None and not 0 <= seat <= others:
            raise InvalidValue(f"seat is {seat}; it must be from 0 to {others}", code="seat")
        self._bots = one_each(against, others)
        self._opponents = Opponents(self.table, data, clock)
        self._opponents.check(self._bots)
        self._fixed = seat
        self._chance = Random()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game.

        Args:
            seed: seed of the environment's random numbers.
            options: ``{"luck": luck, "seat": seat}`` sets the chance source and the learner's seat
                for this game.

        Returns:
            The observation, and ``{"seat": seat}``.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._chance = Random(seed)
        given = options or {}
        drawn = self._chance.randrange(self.table.seats) if self._fixed is None else self._fixed
        self.seat: int = given.get("seat", drawn)
        luck: Chance | None = given.get("luck")
        self.table.deal(luck or Seeded(self._chance.randbytes(SEED_BYTES)))
        free = [seat for seat in range(self.table.seats) if seat != self.seat]
        self._opponents.seat(dict(zip(free, self._bots, strict=True)))
        self._opponents.act(self._chance)
        self._stands = self._standing(self.table)[self.seat]
        self._stood: float = self._potential(self.table)[self.seat]
        return observed(self.table, self.seat), {"seat": self.seat}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply the learner's action, and let the bots act until the learner's next decision."""
        info = {"seat": self.seat}
        try:
            self.table.choose(int(action))
        except IllegalAction as error:
            lost = -1.0 - self._stands + self._shaped(over=True)
            return observed(self.table, self.seat), lost, True, False, {**info, "fault": str(error)}
        self._opponents.act(self._chance)
        before, self._stands = self._stands, self._standing(self.table)[self.seat]
        over = self.table.actor is None
        reward = self._stands - before + self._shaped(over)
        return observed(self.table, self.seat), reward, over, False, info

    def _shaped(self, over: bool) -> float:
        """Return what shaping adds to the reward of a step."""
        before = self._stood
        after: float = 0.0 if over else self._potential(self.table)[self.seat]
        self._stood = after
        return self._discount * after - before

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal for the learner, for libraries with masked policies.

        The same values as ``action_mask`` of the observation. ``MaskablePPO`` of sb3-contrib
        requires a method of this name.

        Returns:
            An array of `action_space.n` booleans; all false after the end of the game.
        """
        return self.table.mask(self.seat).astype(np.bool_)

    def render(self) -> str | None:
        """Return the position as text, with the learner's hand open."""
        return self.table.render((self.seat,)) if self.render_mode == ANSI else None

    def close(self) -> None:
        """End the processes of bots."""
        self._opponents.close()
        super().close()
