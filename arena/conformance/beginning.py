"""The first checks of a bot: that it builds, and that it starts and listens."""

import time
from collections.abc import Callable
from typing import Final

from arena.bots.bot import Bot
from arena.bots.build import build as run_build
from arena.bots.errors import BotError, InfrastructureError
from arena.bots.listening import goes_on_listening
from arena.conformance import forms
from arena.conformance.check import Check, Outcome
from arena.conformance.errand import Errand
from arena.conformance.forms import CLOCK
from arena.conformance.positions import paper
from arena.conformance.talk import NoAnswer
from referee.games.contract import Game

BUILDS: Final = "builds"
LISTENS: Final = "starts and listens"


def by_manifest(bot: Bot) -> None:
    """Runs the build commands of a bot in its folder. Raises BotError."""
    if bot.manifest is not None and bot.folder is not None:
        run_build(bot.manifest, bot.folder, trusted=bot.trusted)


def build(bot: Bot, builder: Callable[[Bot], object]) -> Check | None:
    """Builds it; None if there is nothing to build."""
    if bot.manifest is None or bot.folder is None or bot.content or not bot.manifest.build:
        return None
    began = time.monotonic()
    try:
        builder(bot)
    except BotError as error:
        return Check(BUILDS, Outcome.FAILED, str(error), seconds=time.monotonic() - began)
    took = time.monotonic() - began
    return Check(BUILDS, Outcome.PASSED, f"{took:.1f} s", seconds=took)


def listens(errand: Errand, game: Game) -> tuple[Check, int]:
    """Starts it, and hears how many games it plays at the same time."""
    bot = errand.bot
    if bot.address is not None and not goes_on_listening(bot.address):
        raise InfrastructureError(f"{bot.label} cannot be reached: nobody listens there.")
    form = forms.forms(game)[0]
    asked = paper(form, 0, errand.seed, 1, 1)
    began = time.monotonic()
    limit = f"limit {CLOCK.start_ms / 1000:g} s"
    try:
        with errand.talk(asked.spec, 0) as talk:
            said = f"{talk.seconds:.2f} s ({limit})"
            if talk.said.games_in_flight > 1:
                said += f" · {talk.said.games_in_flight} games at once"
            if talk.said.without_legal:
                said += " · finds its legal actions itself"
            passed = Check(LISTENS, Outcome.PASSED, said, seconds=talk.seconds)
            return passed, talk.said.games_in_flight
    except NoAnswer as error:
        if bot.remote:
            raise InfrastructureError(f"{bot.label} cannot be reached: {error}.") from None
        question = asked.question(asked.positions[0].place)
        failed = Check(
            LISTENS,
            Outcome.FAILED,
            f"it did not start: {error} ({limit})",
            seconds=time.monotonic() - began,
            question=question,
            command=errand.ask(question),
            record=asked.record,
            output=error.output,
        )
        return failed, 0
