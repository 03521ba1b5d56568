"""Send several recorded questions to a bot in one message of Play, like the referee."""

from __future__ import annotations

import time
from collections.abc import Sequence

from google.protobuf.json_format import MessageToDict

from arena.bots.bot import Bot
from arena.cli.develop.recorded_question import BotAnswer, is_legal, told
from arena.cli.errors import USAGE, CommandError
from arena.cli.matches.record_lookup import RecordSource
from arena.errors import InfrastructureError
from arena.submissions.conformance.bot_session import BotSession, MethodUnimplemented, SessionFailed
from referee.replay import RecordedQuestion


def ask(
    source: RecordSource, puts: Sequence[RecordedQuestion], bot: Bot, patience: float, start: float
) -> list[BotAnswer]:
    """Start a bot and send the questions in one message; return the answers in their order.

    Args:
        source: the record of the match.
        puts: the questions.
        bot: the bot.
        patience: seconds for the answers.
        start: seconds for the start.

    Raises:
        InfrastructureError: a remote bot cannot be reached.
        CommandError: these questions cannot be in one message.
    """
    _check(puts)
    talk = BotSession(bot, told(source, puts[0]), start, patience)
    try:
        with talk:
            began = time.monotonic()
            try:
                answers = talk.play(*(put.request for put in puts))
            except MethodUnimplemented:
                return [_no(put, "it has no Play, or broke at its first message") for put in puts]
            ms = round(1000 * (time.monotonic() - began), 3)
            output = talk.report().output
    except SessionFailed as error:
        if bot.remote and not talk.seconds:
            raise InfrastructureError(f"{bot.label} cannot be asked: {error}.") from None
        clause = str(error) if talk.seconds else f"did not start: {error}"
        return [_no(put, clause, error.output) for put in puts]
    return [
        BotAnswer(
            action=MessageToDict(answer.action),
            note=answer.note,
            legal=is_legal(source, put, answer),
            ms=ms,
            limit_ms=len(puts) * put.request.clock.allowance_ms + put.request.clock.bank_ms,
            trouble="",
            output=output,
        )
        for put, answer in zip(puts, answers, strict=True)
    ]


def _check(puts: Sequence[RecordedQuestion]) -> None:
    if len({put.request.seat for put in puts}) > 1:
        raise CommandError("these are questions to different seats; one message has one.", USAGE)
    if len({put.request.game for put in puts}) < len(puts):
        raise CommandError("one message has one question of a game at the most.", USAGE)


def _no(put: RecordedQuestion, trouble: str, output: str = "") -> BotAnswer:
    limit = put.request.clock.allowance_ms + put.request.clock.bank_ms
    return BotAnswer(None, "", False, 0.0, limit, trouble, output)
