"""The process that computes win probabilities of live tables for a web server.

    python -m arena.services.win_probability_process

Each line of its standard input is a request in JSON, with the game, its options, the number of
seats and a public view. It answers with one line: by seat, the probability and its standard error;
or null if the position cannot be rated. All other processes of the machine have a higher priority.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from arena.records.analysis.engine import engine_of
from arena.records.analysis.win_probability import WinProbabilityRater, spectators_worlds
from referee.games.contract import State
from referee.games.registry import find_game
from referee.replay import view_of_json

_CPU_SECONDS: Final = 2.0
"""CPU time after which no further playout of a position begins."""
_FEWEST_PLAYOUTS: Final = 8
_LOWEST_PRIORITY: Final = 19
"""Not SCHED_IDLE: on a machine whose tables use every core it would never be computed."""


def win_probabilities(
    game: str, options: Mapping[str, object], seats: int, view: Mapping[str, Any]
) -> list[tuple[float, float]]:
    """Return the win probability of each seat's side and its standard error, from a public view.

    Equal views have equal results, because all chance follows from the view.

    Raises:
        NoEngine: no engine plays the game.
    """
    rules = find_game(game)
    settled = rules.settle(options)
    rater = WinProbabilityRater(game, engine_of(game), rules.sides(seats, settled))
    seed = hashlib.sha256(json.dumps(view, sort_keys=True).encode()).digest()
    worlds = spectators_worlds(rules, view_of_json(view), settled, seed)
    estimates = rater.rate(_within_limits(worlds, rater.usual_playouts))
    return [(each.mean, each.error) for each in estimates]


def _within_limits(worlds: Iterator[State], most: int) -> Iterator[State]:
    until = time.process_time() + _CPU_SECONDS
    for number, world in zip(range(most), worlds, strict=False):
        if number >= _FEWEST_PLAYOUTS and time.process_time() > until:
            return
        yield world


def main() -> None:
    """Answer requests until the end of standard input."""
    os.nice(_LOWEST_PRIORITY)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            result = win_probabilities(**request)
        except Exception as error:
            # A game of a package may fail in any way; its tables have no win probability.
            print(f"no win probability: {error!r}", file=sys.stderr, flush=True)
            result = None
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
