"""Every message of a table survives encoding and decoding unchanged."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import pytest
from google.protobuf import empty_pb2
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.unknown_fields import UnknownFieldSet
from pokearena.v1 import bot_pb2

from referee.field_names import camel, snake
from referee.game_checks.near_actions import near, of_kind
from referee.game_checks.random_games import Step, dice, question, seen, walk
from referee.game_checks.tables import Table
from referee.game_codec import DecodeError, GameCodec, MessageMismatch, field, json_of
from referee.games.contract import Action, Game
from referee.games.poke import Poke
from referee.games.registry import GAMES
from tests.conformance.oracles import oracle_of
from tests.conformance.tables import every_table
from tests.conformance.walks import closely, walks
from tests.conformance.wire import clean, same
from tests.examples import examples

WALKS = examples(2, 1)
POSITIONS = examples(100_000, 60)
"""Number of positions of a table, evenly spread over its games."""

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.id)


def steps(table: Table) -> Iterator[Step]:
    positions = [step for steps in walks(table, WALKS) for step in closely(table, steps)]
    yield from positions[:: -(-len(positions) // POSITIONS)]


def actions(table: Table) -> Iterator[Action]:
    rng = dice("wire", table)
    for step in steps(table):
        for seat, action in step.moves.items():
            yield action
            yield from list(step.state.legal(seat))[:10]
            things = oracle_of(table).cards(step.state)
            yield from near(action, things, rng)
            yield from (of_kind(kind, things, rng) for kind in table.game.action_types)


@every_game
def test_a_game_has_its_members_in_the_protocol(game: Game) -> None:
    for message in (bot_pb2.View, bot_pb2.Action):
        descriptor: Any = message.DESCRIPTOR
        members = descriptor.oneofs_by_name["game"].fields
        assert game.id in {member.name for member in members}
    descriptor = bot_pb2.Action.DESCRIPTOR
    word = descriptor.fields_by_name[game.id].message_type
    kinds = {field.name for field in word.oneofs_by_name["action"].fields}
    assert kinds == {snake(kind.__name__) for kind in game.action_types}


@every_table
def test_a_view_survives_encoding(table: Table) -> None:
    for step in list(steps(table))[::4]:
        for viewer in (*range(table.seats), None):
            view = seen(step.state, viewer)
            message = bot_pb2.View.FromString(table.codec.view(view))
            assert message.WhichOneof("game") == table.game.id
            member = getattr(message, table.game.id)
            assert same(view, member)
            assert bot_pb2.View.FromString(message.SerializeToString()) == message
            assert clean(message)
            assert MessageToDict(member) == json_of(view)
            assert ParseDict(json_of(view), type(member)()) == member
            assert table.codec.decode_view(message) == view


@every_table
def test_an_action_survives_encoding_and_decoding_as_message_and_json(table: Table) -> None:
    codec = table.codec
    for action in actions(table):
        message = bot_pb2.Action.FromString(codec.action(action))
        word = getattr(message, table.game.id)
        assert same(action, getattr(word, word.WhichOneof("action")))
        assert bot_pb2.Action.FromString(message.SerializeToString()) == message
        assert clean(message)
        assert codec.decode(message) == action
        assert codec.action_json(action) == MessageToDict(message)
        assert json.loads(codec.action_text(action)) == MessageToDict(message)
        assert codec.decode_json(codec.action_json(action)) == action


@every_table
def test_a_question_holds_the_view_and_the_legal_actions_in_their_order(table: Table) -> None:
    codec = table.codec
    for step in steps(table):
        for seat in step.moves:
            legal = step.state.legal(seat)
            message = bot_pb2.ActRequest.FromString(question(codec, step.state, seat))
            assert message.seat == seat
            assert same(step.state.view(seat), getattr(message.view, table.game.id))
            assert [codec.decode(listed) for listed in message.legal] == list(legal)
            assert message.complete == legal.complete
            assert bot_pb2.ActRequest.FromString(message.SerializeToString()) == message
            assert clean(message)
            # Actions that are constructed lazily have equal encodings.
            head, view = bot_pb2.ActRequest(), step.state.view(seat)
            assert codec.question(head, view, legal) == codec.question(head, view, list(legal))


@every_table
def test_a_fresh_codec_and_a_used_one_encode_equally(table: Table) -> None:
    for step in closely(table, walk(table, 0))[::7]:
        for seat in range(table.seats):
            fresh = GameCodec(table.game)
            assert question(fresh, step.state, seat) == question(table.codec, step.state, seat)


def refused(game: Game, message: bot_pb2.Action) -> str:
    with pytest.raises(DecodeError) as caught:
        GameCodec(game).decode(message)
    return str(caught.value)


@every_game
def test_a_message_without_an_action_of_the_game_is_refused(game: Game) -> None:
    empty = bot_pb2.Action()
    expected = f"expected one of {game.id}"
    assert refused(game, empty) == f"holds no action; {expected}"
    kindless = bot_pb2.Action()
    getattr(kindless, game.id).SetInParent()
    kinds = ", ".join(snake(kind.__name__) for kind in game.action_types)
    assert refused(game, kindless) == f"names no kind of action; {game.id} has {kinds}"
    for other in GAMES.values():
        if other is not game:
            foreign = of_kind(other.action_types[0], ["AS"], dice("foreign"))
            message = bot_pb2.Action.FromString(GameCodec(other).action(foreign))
            assert refused(game, message) == f"is an action of {other.id}; {expected}"


@every_game
def test_a_view_of_another_game_is_refused(game: Game) -> None:
    for other in GAMES.values():
        if other is not game:
            message = bot_pb2.View(**{other.id: {}})
            with pytest.raises(DecodeError) as caught:
                GameCodec(game).decode_view(message)
            clause = f"is a view of {other.id}; expected one of {game.id}"
            assert str(caught.value) == clause


JUNK: list[Any] = [None, 5, True, "abc", ["a"], {"nope": 1}, {1: 2}, float("nan"), "\ud800"]


@every_game
@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_json_that_is_not_an_action_is_refused(game: Game, junk: Any) -> None:
    kind = game.action_types[-1]
    (first, *_) = fields(kind)
    given = junk
    for name in (camel(first.name), camel(snake(kind.__name__)), camel(game.id)):
        given = {name: given}
        try:
            action = GameCodec(game).decode_json(given)
        except DecodeError as error:
            sentence = str(error)
        else:  # an action with invalid cards is well-formed
            assert junk in (None, "abc", ["a"])
            assert type(action) is kind
            continue
        assert "\n" not in sentence
        assert sentence.startswith(
            ("is not a valid JSON action: ", "holds no action", "names no kind")
        )
    with pytest.raises(DecodeError, match=r"^is not a valid JSON action: [^\n]+$"):
        GameCodec(game).decode_json(junk)


@every_game
def test_two_kinds_at_once_are_refused(game: Game) -> None:
    first, second = (camel(snake(kind.__name__)) for kind in game.action_types[:2])
    with pytest.raises(DecodeError):
        GameCodec(game).decode_json({camel(game.id): {first: {}, second: {}}})


@dataclass(frozen=True)
class PokeView:
    """A view with a missing field, and a field that should be a list."""

    deal: int
    hand: str


@dataclass(frozen=True)
class Lead:
    """An action with a field that its message does not have."""

    cards: tuple[str, ...]
    face_down: bool


class Unsent(Poke):
    id = "unsent"


class WithOtherView(Poke):
    """A game whose view does not fit its message."""

    view_type = PokeView  # type: ignore[assignment]  # wrong on purpose


class WithOtherAction(Poke):
    """A game with an action that does not fit its message."""

    action_types = (Lead,)  # type: ignore[assignment]  # wrong on purpose


class WithUnsentAction(Poke):
    action_types = (Unsent,)  # type: ignore[assignment]  # wrong on purpose


@pytest.mark.parametrize("kind", [Unsent, WithOtherView, WithOtherAction, WithUnsentAction])
def test_a_game_whose_messages_do_not_fit_is_refused(kind: type[Poke]) -> None:
    with pytest.raises(MessageMismatch):
        GameCodec(kind())


@pytest.mark.parametrize("number", [31, 255, 256, 536_870_911])
def test_every_field_number_of_protobuf_can_be_encoded(number: int) -> None:
    encoded = UnknownFieldSet(empty_pb2.Empty.FromString(field(number, b"content")))
    assert (len(encoded), encoded[0].field_number, encoded[0].data) == (1, number, b"content")
