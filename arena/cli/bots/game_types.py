"""Write the views and actions of a game of a package for a starter kit, from its dataclasses.

Python and TypeScript get types of the JSON in generic messages. The other kits get a sample
question in JSON with the types of its parts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Final, Literal, NewType, Union, get_args, get_origin, get_type_hints

from referee.field_names import camel, pascal, snake
from referee.games.contract import Game

_SEED: Final = bytes(32)
_LISTED: Final = 3
"""Number of legal actions in the sample question."""

Names = dict[type, str]
"""The names of dataclasses, each unique."""


def type_file(game: Game, language: str) -> tuple[str, str]:
    """Return the name and the content of the file for a starter kit."""
    if language == "python":
        return f"{game.id}_types.py", _python(game)
    if language == "typescript":
        return f"{game.id}_types.ts", _typescript(game)
    return f"{game.id}.json", _sample(game)


def _python(game: Game) -> str:
    names, union = _names(game)
    blocks = [
        f"class {name}(TypedDict):\n    {_quoted_doc(kind)}\n"
        + "".join(f"\n    {key}: {text}" for key, text in _members(kind, names, _python_type))
        for kind, name in names.items()
    ]
    members = "\n".join(
        f"    {camel(snake(each.__name__))}: {names[each]}" for each in game.action_types
    )
    return f'''"""The views and actions of {game.title}, as in the JSON of its messages.

A bot::

    import random
    from pokearena_bot import run
    from {game.id}_types import actions_of, move, view_of

    def choose(turn):
        view = view_of(turn)            # {names[game.view_type]}
        return move(random.choice(actions_of(turn)))

    run(choose)

Numbers beyond 2**53 are texts.
"""

import json
from typing import Any, Literal, TypedDict  # noqa: F401

from pokearena.v1 import bot_pb2


{_joined(blocks)}


class {union}(TypedDict, total=False):
    """An action: exactly one of the members."""

{members}


def view_of(turn: Any) -> {names[game.view_type]}:
    """Return the view of the seat in a question."""
    view: {names[game.view_type]} = json.loads(turn.view.generic.json)
    return view


def actions_of(turn: Any) -> list[{union}]:
    """Return the legal actions, the least risky first."""
    return [json.loads(action.generic.json) for action in turn.legal]


def move(action: {union}) -> bot_pb2.Action:
    """Return the message of an action."""
    text = json.dumps(action)
    return bot_pb2.Action(generic=bot_pb2.GenericAction(game="{game.id}", json=text))
'''


def _typescript(game: Game) -> str:
    names, union = _names(game)
    blocks = [
        f"/** {_doc(kind)} */\nexport interface {name} {{\n"
        + "".join(
            f"  {json.dumps(key)}: {text};\n"
            for key, text in _members(kind, names, _typescript_type)
        )
        + "}"
        for kind, name in names.items()
    ]
    union_members = " | ".join(
        f"{{ {json.dumps(camel(snake(each.__name__)))}: {names[each]} }}"
        for each in game.action_types
    )
    return f'''/**
 * The views and actions of {game.title}, as in the JSON of its messages.
 *
 * A bot:
 *
 *     import {{ run }} from "./kit.js";
 *     import {{ actionsOf, move, viewOf }} from "./{game.id}_types.js";
 *
 *     run((turn) => {{
 *       const view = viewOf(turn);
 *       return move(turn.pick(actionsOf(turn)));
 *     }});
 *
 * Numbers beyond 2**53 are texts.
 */
import type * as kit from "./kit.js";

{_joined(blocks, 1)}

/** An action: exactly one of the kinds. */
export type {union} = {union_members};

/** Returns the view of the seat in a question. */
export function viewOf(turn: kit.Turn): {names[game.view_type]} {{
  return JSON.parse(turn.view.generic!.json);
}}

/** Returns the legal actions, the least risky first. */
export function actionsOf(turn: kit.Turn): {union}[] {{
  return turn.legal.map((action) => JSON.parse(action.generic!.json));
}}

/** Returns the message of an action. */
export function move(action: {union}): kit.Action {{
  return {{ generic: {{ game: "{game.id}", json: JSON.stringify(action) }} }};
}}
'''


def _sample(game: Game) -> str:
    """Return a sample question, its answer and the types of the parts, as JSON."""
    from pokearena.v1 import bot_pb2

    from arena.bots.stdio.json_form import writer
    from referee.games.shared.dealing import Seeded
    from referee.generic_codec import GenericCodec

    names, union = _names(game)
    state = game.start(Seeded(_SEED))
    seat, codec = state.actors[0], GenericCodec(game)
    legal = [action for action, _ in zip(state.legal(seat), range(_LISTED), strict=False)]
    question = codec.question(bot_pb2.ActRequest(seat=seat), state.view(seat), legal)
    form = writer(bot_pb2.ActRequest.DESCRIPTOR)(bot_pb2.ActRequest.FromString(question))
    types = {name: dict(_members(kind, names, _typescript_type)) for kind, name in names.items()}
    types[union] = {camel(snake(each.__name__)) + "?": names[each] for each in game.action_types}
    document = {
        "game": game.id,
        "about": "With gRPC, `view.generic.json` and `legal[].generic.json` contain as texts what "
        f'is below "{camel(game.id)}" here, and the answer has the same form. A bot by lines reads '
        "and writes it as it is here. Numbers beyond 2**53 are texts.",
        "question": {key: form[key] for key in ("seat", "view", "legal")},
        "answer": {"action": form["legal"][0]},
        "types": types,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _names(game: Game) -> tuple[Names, str]:
    """Return the names of all dataclasses of a game, the used ones first, and of the action."""
    names: Names = {}
    for kind in (game.view_type, *game.action_types):
        for part in _dataclasses(kind):
            if part not in names:
                names[part] = _unique(part.__name__, names)
    return names, _unique(f"{pascal(game.id)}Action", names)


def _unique(name: str, names: Names) -> str:
    number, free = 1, name
    while free in names.values():
        number += 1
        free = f"{name}{number}"
    return free


def _dataclasses(hint: Any) -> Iterator[type]:
    """Yield the dataclasses in a type, each after those of its fields."""
    if isinstance(hint, type) and is_dataclass(hint):
        for part in get_type_hints(hint).values():
            yield from _dataclasses(part)
        yield hint
    else:
        for part in get_args(hint):
            yield from _dataclasses(part)


def _members(
    kind: type, names: Names, write: Callable[[Any, Names], str]
) -> Iterator[tuple[str, str]]:
    """Yield the keys of a dataclass in JSON with their types."""
    hints = get_type_hints(kind)
    for each in fields(kind):
        yield camel(each.name), write(hints[each.name], names)


def _python_type(hint: Any, names: Names) -> str:
    return _written(hint, names, _PYTHON)


def _typescript_type(hint: Any, names: Names) -> str:
    return _written(hint, names, _TYPESCRIPT)


_Notation = dict[str, Callable[..., str]]
_PYTHON: Final[_Notation] = {
    "plain": lambda kind: kind.__name__,
    "choice": lambda values: f"Literal[{', '.join(map(repr, values))}]",
    "optional": lambda inner: f"{inner} | None",
    "list": lambda inner: f"list[{inner}]",
    "row": lambda parts: f"tuple[{', '.join(parts)}]",
}
_TYPESCRIPT: Final[_Notation] = {
    "plain": lambda kind: {bool: "boolean", str: "string"}.get(kind, "number"),
    "choice": lambda values: " | ".join(map(json.dumps, values)),
    "optional": lambda inner: f"{inner} | null",
    "list": lambda inner: f"({inner})[]" if " " in inner else f"{inner}[]",
    "row": lambda parts: f"[{', '.join(parts)}]",
}


def _written(hint: Any, names: Names, notation: _Notation) -> str:
    """Return the JSON type of a field in a notation; the types are those of the generic codec."""
    if isinstance(hint, NewType):
        return _written(hint.__supertype__, names, notation)
    if hint in names:
        return names[hint]
    parts = get_args(hint)
    if get_origin(hint) is Literal:
        return notation["choice"](parts)
    if get_origin(hint) in (Union, UnionType):
        inner = next(part for part in parts if part is not type(None))
        return notation["optional"](_written(inner, names, notation))
    if get_origin(hint) is tuple:
        written = [_written(part, names, notation) for part in parts if part is not ...]
        return notation["list"](written[0]) if ... in parts else notation["row"](written)
    plain = next(each for each in (bool, int, float, str) if issubclass(hint, each))
    return notation["plain"](plain)


def _doc(kind: type) -> str:
    """Return the first line of the docstring that the author of a dataclass wrote."""
    written = kind.__dict__.get("__doc__") or ""
    first = written.strip().partition("\n")[0]
    generated = first.startswith(f"{kind.__name__}(")
    return kind.__name__ if generated or not first else first.replace("*/", "* /")


def _quoted_doc(kind: type) -> str:
    text = _doc(kind).replace("\\", "\\\\").replace('"', '\\"')
    return f'"""{text}"""'


def _joined(blocks: list[str], lines: int = 2) -> str:
    return ("\n" * (lines + 1)).join(blocks)
