"""The picture of any game: every part of its position by name."""

from collections.abc import Sequence
from typing import Any

from referee.replay import position


class PlainPicture:
    """Draws a position it knows nothing about."""

    def chapter(self, state: Any) -> int:
        """All is one chapter."""
        return 0

    def opening(self, state: Any, names: Sequence[str]) -> list[str]:
        """Nothing to say."""
        return []

    def closing(self, state: Any, chapter: int, names: Sequence[str]) -> list[str]:
        """Nothing to say."""
        return []

    def table(self, state: Any) -> list[str]:
        """Nothing that the actions have not told."""
        return []

    def position(self, state: Any, names: Sequence[str]) -> list[str]:
        """A line a part."""
        return [f"{name}: {value}" for name, value in position(state).items()]
