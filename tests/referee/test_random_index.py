"""Random indices of lists whose length is computed only if necessary."""

import random

from hypothesis import given
from hypothesis import strategies as st

from referee.games.shared.random_index import random_index


@given(st.integers(1, 3000), st.integers(0, 300), st.integers(0, 300), st.integers())
def test_an_index_and_the_generator_after_it_are_those_of_randrange(
    length: int, below: int, above: int, seed: int
) -> None:
    chance, same = random.Random(seed), random.Random(seed)
    least = max(1, length - below)
    for _ in range(5):
        index = random_index(chance, least, length + above, lambda: length)
        assert index == same.randrange(length)
    assert chance.getstate() == same.getstate()


def test_the_length_is_not_computed_if_every_draw_is_decided_by_its_bounds() -> None:
    computed = []

    def length() -> int:
        computed.append(1)
        return 700

    chance = random.Random(1)
    for _ in range(1000):
        random_index(chance, 690, 710, length)
    assert 0 < len(computed) < 100
