"""Simultaneous perturbation stochastic approximation with the gains of chess engine testing.

Every iteration changes all parameters at once by plus or minus a step, lets the two resulting
versions play each other, and moves the parameters towards the better version (J. C. Spall, 1998,
"An overview of the simultaneous perturbation method for efficient optimization", Johns Hopkins APL
Technical Digest 19(4)). The gain sequences and their parametrisation by the last iteration are
those of fishtest and OpenBench: alpha 0.602, gamma 0.101, and A = 0.1 x iterations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from referee.games.shared.dealing import derive

ALPHA: Final = 0.602
"""Exponent of the decrease of the learning rate."""
GAMMA: Final = 0.101
"""Exponent of the decrease of the steps."""
STABILITY: Final = 0.1
"""The constant A as a share of the number of iterations."""

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a bot.

    Attributes:
        name: its name.
        start: its first value.
        minimum: its lowest value.
        maximum: its highest value.
        c_end: the step in the last iteration, in units of the parameter. Choose it so that the
            step changes the result of a few percent of the games.
        r_end: the learning rate in the last iteration: a game won by one version more than by the
            other moves the parameter by r_end x c_end.
        integer: whether the bot receives whole numbers.
    """

    name: str
    start: float
    minimum: float
    maximum: float
    c_end: float
    r_end: float = 0.002
    integer: bool = False

    def within(self, value: float) -> float:
        """Return the nearest value in the range."""
        return min(self.maximum, max(self.minimum, value))

    def text(self, value: float) -> str:
        """Return a value as the bot receives it: a whole number, or six significant digits."""
        return str(round(value)) if self.integer else f"{value:.6g}"


@dataclass(frozen=True, slots=True)
class Gains:
    """The gains of one parameter in one iteration: the step c, and the learning rate a / c^2."""

    step: float
    rate: float


def gains(parameter: Parameter, iteration: int, iterations: int) -> Gains:
    """Return the gains of an iteration.

    The step is c / (k + 1)^gamma and the learning rate is a / (A + k + 1)^alpha, with c and a such
    that the last iteration has the step c_end and the rate r_end x c_end^2.

    Args:
        parameter: the parameter.
        iteration: the number k of the iteration, from 0.
        iterations: the number of all iterations.
    """
    stability = STABILITY * iterations
    step = parameter.c_end * (iterations / (iteration + 1)) ** GAMMA
    last = parameter.r_end * parameter.c_end**2
    learning = last * ((stability + iterations) / (stability + iteration + 1)) ** ALPHA
    return Gains(step, learning / step**2)


def signs(parameters: Sequence[Parameter], seed: bytes, iteration: int) -> dict[str, int]:
    """Return 1 or -1 for each parameter, each with probability one half."""
    bits = derive(seed, "spsa", iteration)
    numbers = int.from_bytes(bits, "big")
    return {p.name: 1 if numbers >> n & 1 else -1 for n, p in enumerate(parameters)}


def perturbed(
    parameters: Sequence[Parameter], values: Values, seed: bytes, iteration: int, iterations: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the values of the two versions that play each other in an iteration."""
    flips = signs(parameters, seed, iteration)
    first, second = {}, {}
    for parameter in parameters:
        step = flips[parameter.name] * gains(parameter, iteration, iterations).step
        first[parameter.name] = parameter.within(values[parameter.name] + step)
        second[parameter.name] = parameter.within(values[parameter.name] - step)
    return first, second


def moved(
    parameters: Sequence[Parameter],
    values: Values,
    seed: bytes,
    iteration: int,
    iterations: int,
    result: float,
) -> dict[str, float]:
    """Return the values after an iteration.

    Args:
        parameters: the parameters.
        values: their values before.
        seed: the seed of the tuning, 32 bytes.
        iteration: the number of the iteration, from 0.
        iterations: the number of all iterations.
        result: wins minus losses of the first version of :func:`perturbed`.
    """
    flips = signs(parameters, seed, iteration)
    after = {}
    for parameter in parameters:
        gain = gains(parameter, iteration, iterations)
        change = gain.rate * gain.step * result * flips[parameter.name]
        after[parameter.name] = parameter.within(values[parameter.name] + change)
    return after
