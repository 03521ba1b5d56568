"""Draw a random index of a list whose length takes long to compute."""

from collections.abc import Callable
from random import Random


def random_index(chance: Random, least: int, most: int, length: Callable[[], int]) -> int:
    """Return ``chance.randrange(length())``; call ``length`` only if the result depends on it.

    ``Random.randrange(n)`` draws numbers of ``n.bit_length()`` bits until one is less than ``n``.
    Whatever the length is, a number below ``least`` is accepted and one from ``most`` on is
    rejected.

    Args:
        chance: the generator.
        least: lower bound of the length, at least 1.
        most: upper bound of the length.
        length: computes the length.
    """
    bits = least.bit_length()
    if most.bit_length() > bits:
        return chance.randrange(length())
    while True:
        drawn = chance.getrandbits(bits)
        if least <= drawn < most:
            least = most = length()
        if drawn < least:
            return drawn
