"""Test policies stored as arrays, and the bot that plays with them."""

from itertools import pairwise
from pathlib import Path
from random import Random
from zipfile import ZipFile

import numpy as np
import pytest
from pokearena.v1 import bot_pb2

from arena.presentation import policy
from arena.presentation.encoding import Decision
from arena.presentation.encodings import encoding_of
from arena.presentation.policy import Policy, PolicyBot, PolicyError
from arena.rl.encoded_game import EncodedGame
from referee.game_codec import GameCodec
from referee.games.registry import GAMES
from referee.games.shared.dealing import Seeded
from tests.errors import has_code

HIDDEN = 8
DECISIONS = 12
every_game = pytest.mark.parametrize("game", GAMES)


def random_policy(game: str, seats: int, *, sampled: bool = False) -> Policy:
    """Return a network with random weights."""
    encoding = encoding_of(game, seats)
    rng = np.random.default_rng(5)
    sizes = (encoding.layout.width, HIDDEN, encoding.size)
    layers = tuple(
        (
            rng.normal(size=(rows, columns)).astype(np.float32),
            rng.normal(size=columns).astype(np.float32),
        )
        for rows, columns in pairwise(sizes)
    )
    return Policy(game, seats, layers, "relu", sampled=sampled)


def started(trained: Policy, folder: Path, seats: int) -> PolicyBot:
    """Return the bot of a policy after its start request."""
    policy.write(trained, folder / "policy.npz")
    bot = PolicyBot(folder / "policy.npz")
    bot.start(bot_pb2.StartRequest(game=trained.game, seats=seats))
    return bot


def question(table: EncodedGame, luck: int) -> bot_pb2.ActRequest:
    """Return the question to the seat to act, without the legal actions."""
    assert table.actor is not None
    head = bot_pb2.ActRequest(seat=table.actor, luck=luck)
    data = GameCodec(table.game).question(head, table.view(table.actor), ())
    return bot_pb2.ActRequest.FromString(data)


@every_game
def test_the_bot_chooses_what_the_policy_chooses_in_the_environment(
    game: str, tmp_path: Path
) -> None:
    table = EncodedGame(game)
    trained = random_policy(game, table.seats)
    bot = started(trained, tmp_path, table.seats)
    table.deal(Seeded(bytes(31) + b"\1"))
    for _ in range(DECISIONS):
        if (seat := table.actor) is None:
            break
        answer = bot.act(question(table, 0))
        chosen: object = None
        while not isinstance(chosen, Decision):
            number = trained.choose(table.observe(seat), table.mask(seat), Random(0))
            chosen = table.choices.chosen(number)
            table.choose(number)
        expected = GameCodec(table.game).action(chosen.action)
        assert answer == bot_pb2.Action.FromString(expected)


def test_a_sampled_policy_repeats_its_choice_with_equal_luck_only(tmp_path: Path) -> None:
    table = EncodedGame("saint_poker")
    trained = random_policy("saint_poker", table.seats, sampled=True)
    weak = [
        (weights / np.float32(100), biases / np.float32(100)) for weights, biases in trained.layers
    ]
    bot = started(Policy("saint_poker", 2, tuple(weak), sampled=True), tmp_path, table.seats)
    answers = [bot.act(question(table, luck)).SerializeToString() for luck in range(20)]
    assert answers == [bot.act(question(table, luck)).SerializeToString() for luck in range(20)]
    assert len(set(answers)) > 1


def test_at_another_number_of_seats_the_bot_plays_the_first_legal_action(tmp_path: Path) -> None:
    table = EncodedGame("saint_poker", 3)
    bot = started(random_policy("saint_poker", 2), tmp_path, table.seats)
    assert table.actor is not None
    first = next(iter(table.state.legal(table.actor)))
    expected = bot_pb2.Action.FromString(GameCodec(table.game).action(first))
    assert bot.act(question(table, 1)) == expected


def test_a_policy_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = random_policy("poke", 2, sampled=True)
    policy.write(written, tmp_path / "a.npz")
    policy.write(written, tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    restored = policy.read(tmp_path / "a.npz")
    assert (restored.game, restored.seats, restored.activation, restored.sampled) == (
        "poke",
        2,
        "relu",
        True,
    )
    for (weights, biases), (other, others) in zip(restored.layers, written.layers, strict=True):
        assert (weights == other).all()
        assert (biases == others).all()


def test_the_mask_can_be_a_part_of_the_input(tmp_path: Path) -> None:
    encoding = encoding_of("poke", 2)
    width = encoding.size + encoding.layout.width
    weights = np.zeros((width, encoding.size), np.float32)
    weights[3, 7] = 1
    file = tmp_path / "policy.npz"
    np.savez(file, game="poke", weights_0=weights, inputs=["action_mask", "observation"])
    mask = np.zeros(encoding.size, np.int8)
    mask[3] = 1
    ratings = policy.read(file).ratings(np.zeros(encoding.layout.width, np.float32), mask)
    assert ratings.argmax() == 7


@pytest.mark.parametrize(
    ("arrays", "code"),
    [
        ({}, "no-layers"),
        ({"weights_0": np.zeros((3, 32))}, "shape"),
        ({"weights_0": np.zeros((341, 5))}, "shape"),
        ({"weights_0": np.zeros((341, 32)), "biases_0": np.zeros(31)}, "shape"),
        ({"weights_0": np.zeros((341, 8)), "weights_1": np.zeros((9, 32))}, "shape"),
        ({"weights_0": np.full((341, 32), np.nan)}, "not-finite"),
        ({"weights_0": np.full((341, 32), "x")}, "not-numbers"),
        ({"weights_0": np.zeros((341, 32)), "activation": "sine"}, "activation"),
        ({"weights_0": np.zeros((341, 32)), "inputs": ["cards"]}, "inputs"),
        ({"weights_0": np.zeros((341, 32)), "encoding": "0123"}, "other-encoding"),
        ({"weights_0": np.zeros((341, 32)), "seats": 9}, "seats"),
        ({"weights_0": np.zeros((341, 32)), "seats": [2, 2]}, "seats"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(
    arrays: dict[str, object], code: str, tmp_path: Path
) -> None:
    file = tmp_path / "policy.npz"
    np.savez(file, game="poke", **arrays)  # type: ignore[arg-type]
    with pytest.raises(PolicyError, check=has_code(code)):
        policy.read(file)


@pytest.mark.parametrize(
    ("content", "code"), [(None, "unreadable"), (b"", "not-npz"), (b"PK\3\4", "not-npz")]
)
def test_a_file_without_arrays_is_refused(content: bytes | None, code: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.npz"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(PolicyError, check=has_code(code)):
        policy.read(file, "poke")


def test_an_archive_with_other_files_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "policy.npz"
    with ZipFile(file, "w") as archive:
        archive.writestr("weights_0", "not an array")
    with pytest.raises(PolicyError, check=has_code("not-npz")):
        policy.read(file, "poke")
