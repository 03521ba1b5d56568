"""The first checks of an examination: build, start and listen."""

import time
from collections.abc import Callable
from typing import Final

from arena.bots.bot import Bot, granted_start_ms
from arena.bots.bot_session import SessionFailed
from arena.bots.build import build as run_build
from arena.bots.socket_probe import goes_on_listening
from arena.errors import BotError, InfrastructureError
from arena.submissions.conformance import examined_forms
from arena.submissions.conformance.check import Check, CheckOutcome
from arena.submissions.conformance.examination_order import ExaminationOrder
from arena.submissions.conformance.examined_forms import CLOCK
from arena.submissions.conformance.question_sheet import (
    prepare_questions,
)
from referee.games.contract import Game

BUILDS: Final = "builds"
LISTENS: Final = "starts and listens"


def build_by_manifest(bot: Bot) -> None:
    """Run the manifest's build commands in the bot's folder.

    Raises:
        BotError: the build failed.
    """
    if bot.manifest is not None and bot.folder is not None:
        run_build(bot.manifest, bot.folder, trusted=bot.trusted)


def build(bot: Bot, builder: Callable[[Bot], object]) -> Check | None:
    """Build the bot and return the check; None if a build is not necessary."""
    if bot.manifest is None or bot.folder is None or bot.content or not bot.manifest.build:
        return None
    began = time.monotonic()
    try:
        builder(bot)
    except BotError as error:
        return Check(BUILDS, CheckOutcome.FAILED, str(error), seconds=time.monotonic() - began)
    took = time.monotonic() - began
    return Check(BUILDS, CheckOutcome.PASSED, f"{took:.1f} s", seconds=took)


def listening_check(order: ExaminationOrder, game: Game) -> tuple[Check, int]:
    """Start the bot. Return the check and the number of games that it plays simultaneously."""
    bot = order.bot
    if bot.address is not None and not goes_on_listening(bot.address):
        raise InfrastructureError(
            f"{bot.label} cannot be reached: nobody listens there.", code="unreachable"
        )
    form = examined_forms.forms(game)[0]
    sheet = prepare_questions(form, 0, order.seed, 1, 1)
    began = time.monotonic()
    limit = f"limit {granted_start_ms(bot, CLOCK.start_ms) / 1000:g} s"
    try:
        with order.session(sheet.spec, 0) as session:
            sentence = f"{session.seconds:.2f} s ({limit})"
            if session.start_response.games_in_flight > 1:
                sentence += f" · {session.start_response.games_in_flight} games at once"
            if session.start_response.without_legal:
                sentence += " · finds its legal actions itself"
            passed = Check(LISTENS, CheckOutcome.PASSED, sentence, seconds=session.seconds)
            return passed, session.start_response.games_in_flight
    except SessionFailed as error:
        if bot.remote:
            raise InfrastructureError(
                f"{bot.label} cannot be reached: {error}.", code="unreachable"
            ) from None
        question = sheet.question(sheet.positions[0].place)
        failed = Check(
            LISTENS,
            CheckOutcome.FAILED,
            f"{error} ({limit})",
            seconds=time.monotonic() - began,
            question=question,
            command=order.ask_command(question),
            record=sheet.record,
            output=error.output,
        )
        return failed, 0
