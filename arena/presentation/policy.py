"""Trained policies: a network stored as arrays, and a bot that plays with it.

The file is a NumPy archive (`.npz`, docs/how-to/training.md). Requires neither a learning library
nor Gymnasium, so an exported bot runs with the packages of any arena.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from pokearena.v1.bot_pb2 import Action as ActionMessage
from pokearena.v1.bot_pb2 import ActRequest, StartRequest, StartResponse

from arena.errors import BotError
from arena.presentation.encoding import Choices, Decision, Encoding
from arena.presentation.encodings import encoding_of
from referee.games.contract import Action, Game, Legal, ListedLegal, View
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded, derive
from referee.generic_codec import new_codec

Numbers = NDArray[np.float32]

OBSERVATION: Final = "observation"
MASK: Final = "action_mask"
ACTIVATIONS: Final[Mapping[str, Callable[[Numbers], Numbers]]] = {
    "tanh": np.tanh,
    "relu": lambda numbers: np.maximum(numbers, np.float32(0)),
}
"""Functions between the layers of a network."""
GAMES_IN_FLIGHT: Final = 16


class PolicyError(BotError):
    """A policy is missing, unreadable or does not fit the game."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A network that rates every action number of a form.

    Attributes:
        game: the id of the game.
        seats: the number of seats that the policy was trained for.
        layers: weights of shape (inputs, outputs) and biases of shape (outputs,), for each layer.
        activation: the function between two layers, a key of :data:`ACTIVATIONS`.
        inputs: the parts of an observation that are the input, in order.
        sampled: whether actions are drawn with the probabilities of the softmax; otherwise the
            action with the highest rating is chosen.
    """

    game: str
    seats: int
    layers: tuple[tuple[Numbers, Numbers], ...]
    activation: str = "tanh"
    inputs: tuple[str, ...] = (OBSERVATION,)
    sampled: bool = False

    def ratings(self, observation: Numbers, mask: NDArray[np.int8]) -> Numbers:
        """Return the rating of every action number, legal or not: the logits of the policy."""
        parts = {OBSERVATION: observation, MASK: mask.astype(np.float32)}
        values = np.concatenate([parts[name] for name in self.inputs])
        activate = ACTIVATIONS[self.activation]
        for number, (weights, biases) in enumerate(self.layers):
            if number:
                values = activate(values)
            values = values @ weights + biases
        return values

    def choose(self, observation: Numbers, mask: NDArray[np.int8], chance: Random) -> int:
        """Return a legal action number."""
        legal = np.flatnonzero(mask)
        ratings = self.ratings(observation, mask)[legal].astype(np.float64)
        if not self.sampled:
            return int(legal[ratings.argmax()])
        weights = np.exp(ratings - ratings.max())
        return int(chance.choices(legal.tolist(), weights.tolist())[0])


def check(policy: Policy) -> None:
    """Check that the shapes of a network fit its form and each other.

    Raises:
        PolicyError: they do not.
    """
    encoding = encoding_of(policy.game, policy.seats)
    sizes = {OBSERVATION: encoding.layout.width, MASK: encoding.size}
    if policy.activation not in ACTIVATIONS:
        raise PolicyError(
            f'the activation is "{policy.activation}"; it must be {" or ".join(ACTIVATIONS)}.',
            code="activation",
        )
    if not policy.inputs or not set(policy.inputs) <= set(sizes):
        raise PolicyError(
            f"the inputs are {', '.join(policy.inputs) or 'empty'}; "
            f"possible are {OBSERVATION} and {MASK}.",
            code="inputs",
        )
    size = sum(sizes[name] for name in policy.inputs)
    for number, (weights, biases) in enumerate(policy.layers):
        last = number == len(policy.layers) - 1
        _check_layer(policy, number, weights, biases, size, encoding.size if last else None)
        size = len(biases)


def _check_layer(
    policy: Policy, number: int, weights: Numbers, biases: Numbers, size: int, outputs: int | None
) -> None:
    """Check one layer; `size` is its number of inputs, `outputs` that of the last layer."""
    expected = (size, len(biases) if outputs is None and biases.ndim == 1 else outputs)
    form = f"{policy.game} with {policy.seats} seats"
    if weights.shape != expected:
        columns = "outputs" if expected[1] is None else expected[1]
        raise PolicyError(
            f"weights_{number} has the shape {weights.shape}; {form} needs ({size}, {columns}): "
            "a row for each input and a column for each output.",
            code="shape",
        )
    if biases.shape != weights.shape[1:]:
        raise PolicyError(
            f"biases_{number} has the shape {biases.shape}; it must be {weights.shape[1:]}.",
            code="shape",
        )
    if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
        raise PolicyError(f"layer {number} has numbers that are not finite.", code="not-finite")


def digest(encoding: Encoding) -> str:
    """Return a short hash of the declared fields of an encoding and of its number of actions."""
    fields = [
        (f.name, f.values, f.start, f.shape, f.scale, f.group, f.repeats, f.stride)
        for f in encoding.layout.fields
    ]
    return hashlib.sha256(repr((encoding.size, fields)).encode()).hexdigest()[:16]


def write(policy: Policy, path: Path) -> None:
    """Write a policy to a file; equal policies give equal bytes."""
    arrays: dict[str, Any] = {
        "game": policy.game,
        "seats": policy.seats,
        "activation": policy.activation,
        "inputs": list(policy.inputs),
        "sampled": policy.sampled,
        "encoding": digest(encoding_of(policy.game, policy.seats)),
    }
    for number, (weights, biases) in enumerate(policy.layers):
        arrays[f"weights_{number}"] = weights.astype(np.float32)
        arrays[f"biases_{number}"] = biases.astype(np.float32)
    np.savez_compressed(path, **arrays)


def read(path: Path, game: str | None = None, seats: int | None = None) -> Policy:
    """Read a policy from a file.

    Args:
        path: the file.
        game: the game of a file without the array ``game``.
        seats: the number of seats for a file without the array ``seats``.

    Raises:
        PolicyError: the file is not readable, contains no policy, or does not fit the game.
    """
    arrays = _arrays(path)
    game = str(arrays.get("game", game or ""))
    if not game:
        raise PolicyError(f"{path} does not name its game.", code="no-game")
    policy = Policy(
        game,
        _seats(path, arrays, find_game(game), seats),
        tuple(_layers(path, arrays)),
        str(arrays.get("activation", "tanh")),
        tuple(str(name) for name in np.atleast_1d(arrays.get("inputs", OBSERVATION))),
        bool(np.all(arrays.get("sampled", False))),
    )
    expected = digest(encoding_of(policy.game, policy.seats))
    if str(arrays.get("encoding", expected)) != expected:
        raise PolicyError(
            f"{path} was exported for other observations or actions of {policy.game} than those of "
            "this version of pokearena; train the policy again.",
            code="other-encoding",
        )
    try:
        check(policy)
    except PolicyError as error:
        raise PolicyError(f"{path}: {error}", code=error.code) from None
    return policy


def _arrays(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except OSError as error:
        reason = error.strerror or str(error)
        raise PolicyError(f"{path} cannot be read: {reason}.", code="unreadable") from None
    except (BadZipFile, ValueError, AttributeError, TypeError, EOFError, RuntimeError, zlib.error):
        raise PolicyError(
            f"{path} is not an archive of arrays; write it with numpy.savez.", code="not-npz"
        ) from None
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise PolicyError(
            f"{path} contains files other than arrays; write it with numpy.savez.", code="not-npz"
        )
    return arrays


def _seats(path: Path, arrays: Mapping[str, Any], game: Game, seats: int | None) -> int:
    """Return the number of seats, which the game must support."""
    stored = arrays.get("seats", seats or game.seats[0])
    try:
        number = int(stored)
        game.check_seats(number, game.settle({}))
    except (TypeError, ValueError) as error:
        raise PolicyError(
            f'{path}: "seats" is not a number of seats of {game.id}: {error}', code="seats"
        ) from None
    return number


def _layers(path: Path, arrays: Mapping[str, Any]) -> Sequence[tuple[Numbers, Numbers]]:
    layers: list[tuple[Numbers, Numbers]] = []
    while (weights := arrays.get(f"weights_{len(layers)}")) is not None:
        biases = arrays.get(f"biases_{len(layers)}", np.zeros(np.shape(weights)[-1:]))
        try:
            layers.append((weights.astype(np.float32), biases.astype(np.float32)))
        except ValueError:
            raise PolicyError(
                f"{path}: layer {len(layers)} does not contain numbers.", code="not-numbers"
            ) from None
    if not layers:
        raise PolicyError(
            f'{path} has no array "weights_0"; a policy has weights_0, biases_0, weights_1 and so '
            "on.",
            code="no-layers",
        )
    return layers


class PolicyBot:
    """A bot for the Python kit that plays with a policy. Its only memory is the start request.

    At a table with another number of seats than the policy was trained for, it plays the first
    legal action.

    Raises:
        PolicyError: the file is not readable or does not fit the game.
    """

    def __init__(self, path: Path) -> None:
        self.policy = read(path)
        self._game = find_game(self.policy.game)
        self._codec = new_codec(self._game)
        self._encoding = encoding_of(self._game.id, self.policy.seats)

    def start(self, start: StartRequest) -> StartResponse:
        """Store the options and the number of seats."""
        self._options = self._game.settle(start.options)
        self._trained = start.seats == self.policy.seats
        return StartResponse(games_in_flight=GAMES_IN_FLIGHT, without_legal=self._game.redeals)

    def act(self, turn: ActRequest) -> ActionMessage:
        """Return the action of the policy; equal questions have equal answers."""
        view = self._codec.decode_view(turn.view)
        seed = derive(turn.luck.to_bytes(32, "big"), "policy", 0)
        legal: Legal = ListedLegal(map(self._codec.decode, turn.legal), turn.complete)
        if self._game.redeals:
            # Hidden cards are dealt at random, because the legal actions do not depend on them.
            state = self._game.from_view(view, turn.seat, self._options, Seeded(seed))
            legal = state.legal(turn.seat)
        action = (
            self._chosen(view, turn.seat, legal, Random(turn.luck))
            if self._trained
            else next(iter(legal))
        )
        return ActionMessage.FromString(self._codec.action(action))

    def _chosen(self, view: View, seat: int, legal: Legal, chance: Random) -> Action:
        """Choose numbers until they determine an action."""
        step: Choices | Decision = self._encoding.choices(view, legal)
        while not isinstance(step, Decision):
            observation = self._encoding.observe(view, seat, step)
            mask = np.zeros(self._encoding.size, np.int8)
            mask[list(step.numbers)] = 1
            step = step.chosen(self.policy.choose(observation, mask, chance))
        return step.action
