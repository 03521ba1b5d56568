"""Describe a game: its options, forms of action and rules."""

from __future__ import annotations

import inspect
import random
from collections.abc import Sequence
from dataclasses import dataclass, fields
from io import StringIO
from itertools import product
from typing import Any

from arena.presentation import shipped_docs
from referee.field_names import snake
from referee.games.contract import Action, Game, Option
from referee.games.shared.dealing import SEED_BYTES, Seeded
from referee.replay import codec_of, in_words

_GAMES = 20
"""Number of random games that are played to find an example of every form of action."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form of action, with an example."""

    name: str
    meaning: str
    fields: tuple[str, ...]
    words: str
    """The example in the wording of replays."""
    message: dict[str, Any]
    """The example in the protocol's JSON form."""


def rules_page(game: Game) -> str:
    """Return the rules of a game as Markdown."""
    return shipped_docs.rules(game.id)


def applicable(game: Game, numbers: Sequence[str], width: int) -> list[str]:
    """Return rules of a game as lines of text, not longer than `width`.

    `numbers` are those of sections ("P-3") and single rules ("P-3.2"), in this order.
    """
    from rich.console import Console
    from rich.markdown import Markdown

    chosen = "\n".join(shipped_docs.rule(game.id, number) for number in numbers)
    console = Console(file=StringIO(), width=width, no_color=True, force_terminal=False)
    console.print(Markdown(chosen))
    printed = console.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO
    return [line.rstrip() for line in printed.splitlines()]


def forms(game: Game) -> list[Form]:
    """Return the forms of action of a game, each with an example from a random game."""
    described = []
    for kind, example in _examples(game).items():
        message = codec_of(game).action_json(example)
        described.append(
            Form(
                snake(kind.__name__),
                (inspect.getdoc(kind) or "").partition("\n")[0],
                tuple(field.name for field in fields(kind)),
                in_words(game, message),
                message,
            )
        )
    return described


def choices(option: Option) -> str:
    """Return the allowed values of an option as text."""
    if option.choices:
        return " or ".join(option.choices)
    return "true or false" if isinstance(option.default, bool) else "a whole number"


def _examples(game: Game) -> dict[type, Action]:
    """Return an action of every kind from random games with all seats and switches."""
    chance = random.Random(game.id)
    seen: dict[type, Action] = {}
    switches = {n: o.default for n, o in game.options.items() if isinstance(o.default, bool)}
    turned: list[dict[str, bool]] = [{}, *({name: not usual} for name, usual in switches.items())]
    for number in range(_GAMES):
        for seats, options in product(game.seats, turned):
            if not game.allows(seats, game.settle(options)):
                continue
            state = game.start(Seeded(number.to_bytes(SEED_BYTES, "big")), seats, options)
            while state.actors and len(seen) < len(game.action_types):
                moves = {seat: state.legal(seat).any(chance) for seat in state.actors}
                for action in moves.values():
                    seen.setdefault(type(action), action)
                state = state.play(moves)
    return {kind: seen[kind] for kind in game.action_types if kind in seen}
