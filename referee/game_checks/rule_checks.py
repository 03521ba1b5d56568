"""Checks of the rules: a game ends, its values are immutable, and chance decides reproducibly."""

import copy
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from itertools import islice, zip_longest
from typing import Any

from referee.game_checks import fingerprint
from referee.game_checks.immutability import changeable
from referee.game_checks.random_games import Step, Viewer, dice, go_on, question, seen, walk
from referee.game_checks.tables import Table
from referee.games.contract import Action, IllegalAction
from referee.games.shared.dealing import Seeded

WALKS = 6
"""Random games of each check."""
_FRESH_POSITIONS = 40
_LARGEST_SCORE = (1 << 31) - 1
_HASH_SEEDS = ("1", "2")
_BOARDS = 6


def viewers(table: Table) -> tuple[Viewer, ...]:
    """Return all seats and a spectator."""
    return (*range(table.seats), None)


def some_steps(table: Table, walks: int = WALKS, positions: int = 20) -> Iterator[Step]:
    """Yield about this number of positions of each of some games, including the last one."""
    for number in range(walks):
        steps = walk(table, number)
        yield from (*steps[:: max(1, len(steps) // positions)], steps[-1])


def self_description(table: Table) -> Iterator[str]:
    """The class of the game has a title, seats, options, and frozen dataclasses as messages."""
    game = table.game
    if not game.title:
        yield "the title is empty"
    if len(set(game.seats)) != len(game.seats) or min(game.seats) < 2:
        yield f"seats is {game.seats}; it must have different numbers of at least 2"
    for name, option in game.options.items():
        if not option.meaning.endswith("."):
            yield f"the meaning of the option {name} does not end with a full stop"
    for kind in (game.view_type, *game.action_types):
        if not is_dataclass(kind) or not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            yield f"{kind.__name__} is not a frozen dataclass"
    sides = table.sides
    if len(sides) != table.seats or set(sides) != set(range(max(sides) + 1)) or max(sides) < 1:
        yield f"the sides are {sides}; each seat needs one, and they are numbered from 0"


def random_games(table: Table) -> Iterator[str]:
    """Random games end, and acting seats are in order and have legal actions."""
    for number in range(WALKS):
        *before, last = walk(table, number)
        if not before:
            yield f"game {number} has no decision"
        for step in (*before, last):
            actors = step.state.actors
            if type(actors) is not tuple or list(actors) != sorted(
                set(actors) & set(range(table.seats))
            ):
                yield f"actors is {actors}; it must be a tuple of seats in their order"
        scores = last.state.scores
        if type(scores) is not tuple or len(scores) != table.seats:
            yield f"scores is {scores}; it must be a tuple with the score of every seat"
        elif any(type(score) is not int or abs(score) > _LARGEST_SCORE for score in scores):
            yield f"scores is {scores}; every score must be an int of 32 bits"
        else:
            yield from _outcome(table, last)


def _outcome(table: Table, last: Step) -> Iterator[str]:
    outcome = table.game.outcome(last.state, table.sides)
    if outcome.scores != last.state.scores:
        yield f"the outcome has the scores {outcome.scores}, the position {last.state.scores}"
    if len(outcome.places) != table.seats or min(outcome.places) != 1:
        yield f"the places are {outcome.places}; each seat has one, and the best is 1"


def harmless_games(table: Table) -> Iterator[str]:
    """Games end in which each seat plays its first listed action, as the referee does for it."""
    for number in range(2):
        state = walk(table, number)[0].state
        for _ in range(20_000):
            if not state.actors:
                break
            first = {seat: next(iter(state.legal(seat))) for seat in state.actors}
            state = state.play(first)
        else:
            yield "a game of first listed actions does not end within 20,000 positions"


def immutability(table: Table) -> Iterator[str]:
    """Positions, views and actions are immutable."""
    for step in some_steps(table, 1):
        values: list[Any] = [step.state, *step.moves.values()]
        values += [seen(step.state, viewer) for viewer in viewers(table)]
        values += [action for seat in step.moves for action in step.state.legal(seat)]
        yield from filter(None, map(changeable, values))


def purity(table: Table) -> Iterator[str]:
    """Operations change no position and use no global random numbers."""
    for number in range(WALKS // 3):
        rng = dice("purity", table, number)
        # Positions of other checks have been played before.
        steps = go_on(table.start(Seeded(rng.randbytes(32))), rng)
        for step in islice(steps, _FRESH_POSITIONS):
            yield from _impurities(table, step)


def _impurities(table: Table, step: Step) -> Iterator[str]:
    state, moves = step.state, dict(step.moves)
    kept, chance = copy.deepcopy(state), random.getstate()
    sent = [question(table.codec, state, viewer) for viewer in viewers(table)]
    for viewer in viewers(table) if table.game.redeals else ():
        state.redeal(viewer, Seeded(bytes(32)))
    if moves:
        state.play(moves)
        state.after(moves)
    if moves != step.moves:
        yield "an operation changes the moves"
    if state != kept:
        yield "an operation changes the position"
    if sent != [question(table.codec, state, viewer) for viewer in viewers(table)]:
        yield "two questions of one position differ"
    if random.getstate() != chance:
        yield "an operation uses the global random numbers of Python instead of luck"


def determinism(table: Table) -> Iterator[str]:
    """The same seed and actions give the same game, and chance does not depend on actions."""
    for number in range(WALKS // 2):
        state = table.start(Seeded(dice(table, number).randbytes(32)))
        for at, step in enumerate(walk(table, number)):
            codec = table.codec
            if state != step.state or any(
                question(codec, state, viewer) != question(codec, step.state, viewer)
                for viewer in viewers(table)
            ):
                yield f"position {at} differs when the game is played again"
                break
            if step.moves:
                state = state.play(step.moves)
    luck = Seeded(bytes(range(32)))
    for step in go_on(table.start(luck), dice("other choices", table)):
        if getattr(step.state, "luck", luck) != luck:
            yield "the chance source of a position is not that of the game"
            break


def boards(table: Table) -> Iterator[str]:
    """Boards differ: the same choices do not give the same game with each seed."""
    games = [_views(table, bytes((number,) * 32)) for number in range(_BOARDS)]
    if all(len(set(seen_now)) == 1 for seen_now in zip_longest(*games)):
        yield "all boards are the same game; a game without chance needs opening_actions"


def _views(table: Table, seed: bytes) -> Iterator[tuple[bytes, ...]]:
    """Yield what the viewers see in each position of a game with the same choices for any seed."""
    for step in go_on(table.start(Seeded(seed)), dice("boards", table)):
        yield tuple(table.codec.view(seen(step.state, viewer)) for viewer in viewers(table))


def other_processes(table: Table) -> Iterator[str]:
    """Processes with another order of their sets send the same bytes."""
    if table != fingerprint.first_table(table.game.id):
        return
    expected = f"{table} {fingerprint.fingerprint(table)}"
    for seed in _HASH_SEEDS:
        done = subprocess.run(
            [sys.executable, "-m", fingerprint.__name__, table.game.id],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": _import_paths()},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            yield f"the game fails in another process: {done.stderr.strip().splitlines()[-1]}"
        elif done.stdout.strip() != expected:
            yield "another process sends other messages; is an order that of a set?"


def _import_paths() -> str:
    return os.pathsep.join(filter(None, sys.path))


def turns(table: Table) -> Iterator[str]:
    """Only the acting seats can move, and `play` and `after` agree for legal moves."""
    for step in walk(table, 0):
        action = next(iter(step.moves.values()), None)
        idle = [seat for seat in range(-1, table.seats + 1) if seat not in step.moves]
        wrong: list[Mapping[int, Action]] = [{**step.moves, seat: action} for seat in idle]
        wrong += [{s: m for s, m in step.moves.items() if s != gone} for gone in step.moves]
        for moves in wrong:
            try:
                step.state.play(moves)
            except IllegalAction:
                continue
            yield f"play accepts moves of the seats {sorted(moves)}, where {step.state.actors} act"
            return
        if step.moves and step.state.play(step.moves) != step.state.after(step.moves):
            yield "play and after differ for legal moves"
            return
