"""Tags that bots set on a game: valid ones are in the record, others are dropped."""

import pytest
from pokearena.v1 import bot_pb2

from tests.referee.authors import Answer, Author, play


def tagging(*tags: str) -> Author:
    """Return a bot that sets these tags with each answer."""

    def answer(question: bot_pb2.ActRequest) -> Answer:
        return Answer(
            game=question.game, decision=question.decision, choice=0, tags=(*tags, "last")
        )

    return Author(answer)


@pytest.mark.parametrize(
    ("tags", "kept"),
    [
        (["book"], ["book", "last"]),
        (["a b", "a b", "~!", "x" * 20], ["a b", "~!", "x" * 20, "last"]),
        (["", " ", "x ", " x", "x" * 21, "é", "a\nb", "a\x7f", "\0"], ["last"]),
        ([str(number) for number in range(7)], ["0", "1", "2", "3", "4"]),
        ([""] * 1000, []),
    ],
)
def test_valid_tags_are_in_the_result_and_bad_ones_are_no_fault(
    tags: list[str], kept: list[str]
) -> None:
    played = play([tagging(*tags), Author()])
    assert played.verdicts == [["finished", "finished"]]
    (game,) = played.games
    assert game.result.get("tags", [[], []]) == [kept, []]
