"""Import the modules of `champion`, whose names other bots use too."""

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from arena.bots.resolver import house_folder


@contextmanager
def champion_modules(names: Sequence[str]) -> Iterator[list[Any]]:
    """Import modules of the bot for the duration of the block, each after those that it uses."""
    _forget(names)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(house_folder() / "champion"))
        yield [importlib.import_module(name) for name in names]
    _forget(names)


def _forget(names: Sequence[str]) -> None:
    for name in names:
        sys.modules.pop(name, None)
