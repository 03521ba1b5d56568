"""Test that no folder and no build of a bot makes the arena grant a file that is not its own."""

from collections.abc import Iterator

import pytest

from arena.bots.sandbox.level import Level
from tests.hostile.hostile_trees import (
    CONTAINED,
    REFUSED,
    ROWS,
    WAYS,
    Surroundings,
    Tree,
    surroundings,
)
from tests.hostile.sandboxed_run import is_tried, need

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(180)]
LEVELS = (Level.BUBBLEWRAP, Level.LANDLOCK)


@pytest.fixture(scope="module")
def world() -> Iterator[Surroundings]:
    with surroundings() as world:
        yield world


@pytest.mark.parametrize(
    ("tree", "way", "level"),
    [
        pytest.param(tree, way, level, id=f"{tree}-{way}-{level}")
        for number, (tree, way) in enumerate(ROWS)
        for level in LEVELS
        if is_tried(number, level)
    ],
)
def test_a_tree_of_links_grants_nothing(
    world: Surroundings, tree: Tree, way: str, level: Level
) -> None:
    need(level)
    verdict, text = WAYS[way](tree, level, world)
    assert verdict in (CONTAINED, REFUSED), text
