"""Whether an answer is a legal action; and whether a question breaks a bot that is asked alone."""

from typing import Final

from arena.conformance.errand import Errand
from arena.conformance.talk import NoAnswer, Response, Unimplemented
from arena.store.spec import MatchSpec
from referee.codec import DecodeError
from referee.games.registry import find
from referee.replay import Question, codec_of, in_words

_LISTED: Final = 12


class Wrong(Exception):
    """An answer that is none. Its text is a clause about the bot."""


def judge(game_id: str, asked: Question, response: Response) -> None:
    """Raises Wrong unless it is a legal action."""
    game = find(game_id)
    codec = codec_of(game)
    try:
        action = codec.decode(response.action)
    except DecodeError as error:
        raise Wrong(f"its answer {error}") from None
    if action in asked.legal:
        return
    answered = in_words(game, codec.action_json(action))
    first = [action for action, _ in zip(asked.legal, range(_LISTED + 1), strict=False)]
    listed = [in_words(game, codec.action_json(one)) for one in first]
    more = " | ..." * (len(listed) > _LISTED)
    raise Wrong(
        f'it answered "{answered}", which is not legal; legal: {" | ".join(listed[:_LISTED])}{more}'
    )


def breaks(errand: Errand, spec: MatchSpec, asked: Question, *, by_stream: bool = False) -> bool:
    """Whether a question breaks a fresh bot: put as `pokearena ask` does, or by Play."""
    try:
        with errand.talk(spec, asked.request.seat) as talk:
            if by_stream:
                answers = talk.play(asked.request)
            else:
                try:
                    answers = [talk.act(asked.request)]
                except Unimplemented:
                    answers = talk.play(asked.request)
            judge(spec.game, asked, answers[0])
    except (NoAnswer, Wrong, Unimplemented):
        return True
    return False
