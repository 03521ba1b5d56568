"""The record of a match as text: the same from `play` as from the store."""

from collections.abc import Mapping

from arena.store.spec import MatchSpec
from referee.record import dump


def record_text(spec: MatchSpec, games: Mapping[int, str], seed: bytes | None) -> str:
    """The match line, the games in the order of their numbers, and the seed if it is public.

    Args:
        spec: the match.
        games: the record lines of each finished game by its number within the match.
        seed: the match's seed once its last table is over; None before.
    """
    lines = [dump(spec.line()), *(games[number] for number in sorted(games))]
    if seed is not None:
        lines.append(dump({"type": "seed", "seed": seed.hex()}))
    return "".join(lines)
