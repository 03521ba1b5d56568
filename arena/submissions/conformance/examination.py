"""The examination of a bot: build, start, clock, tables and questions."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from arena.bots.bot import Bot
from arena.bots.exit_report import MIB, Limits
from arena.bots.version_store import content_hash
from arena.errors import InfrastructureError
from arena.models.match_models import MatchModels
from arena.store.match_settings import Clock, MatchSettings
from arena.store.matches.spec import MatchSpec
from arena.submissions.conformance import examined_forms
from arena.submissions.conformance.check import Check, CheckOutcome
from arena.submissions.conformance.decision_clock import Stopwatch
from arena.submissions.conformance.examination_matches import ExaminationMatch, play
from arena.submissions.conformance.examination_order import (
    ExaminationOrder,
    ModelsOf,
    no_models,
)
from arena.submissions.conformance.question_rounds import (
    TOGETHER,
    FailingQuestion,
    QuestionResult,
    QuestionRounds,
)
from arena.submissions.conformance.question_sheet import (
    QuestionSheet,
    prepare_questions,
)
from arena.submissions.conformance.start_checks import (
    LISTENS,
    build,
    build_by_manifest,
    listening_check,
)
from arena.submissions.conformance.table_faults import fault_check
from referee.games.contract import Game
from referee.games.registry import GAMES

PLAYS: Final = "plays"
LONG_TABLE: Final = "a long table"
QUIET: Final = "quiet"
MODELS: Final = "plays with its models"
"""Names of checks in the report."""

SUBMISSION_SECONDS: Final = 120.0
"""Seconds after which the examination of a submission asks no further questions."""
_MODEL_CLOCK: Final = Clock(allowance_ms=30_000)
_TABLE_SECONDS: Final = 60.0
_LONG_TABLE_SECONDS: Final = 20.0
_LONG_TABLE_GAMES: Final = 40
_MAX_FAILED_FORMS: Final = 2
"""Number of failed forms of a game after which its other forms are not played."""
_MAX_BROKEN_CHECKS: Final = 3
"""Number of checks that stopped the bot after which the other forms are not asked."""
_MAX_OUTPUT_BYTES: Final = 64 * 1024
"""Bytes of output that are stored without truncation."""

OnTest = Callable[[str], None]
"""Receives a description of the current test."""


def examine(
    bot: Bot,
    referee: str,
    games: Sequence[str] = (),
    seed: bytes = bytes(32),
    *,
    seed_argument: str = "0" * 64,
    bot_argument: str = "",
    thorough: bool = True,
    is_built: bool = False,
    builder: Callable[[Bot], object] = build_by_manifest,
    seconds: float = float("inf"),
    on_test: OnTest = lambda what: None,
    models: ModelsOf = no_models,
) -> Iterator[Check]:
    """Examine a bot and yield the checks as they are completed.

    Runs the build commands in the bot's folder, unless the bot is an archived version. The same
    arguments produce the same tests.

    Args:
        games: the IDs of the games to test; empty: all games that the bot claims.
        seed: the source of all cards, 32 bytes.
        seed_argument: the seed as a command-line argument.
        bot_argument: the bot as a command-line argument; by default its label.
        thorough: True: every form of every game, which takes minutes; False: a fixed selection.
        is_built: whether the bot is already built.
        builder: builds a bot that has build commands; raises BotError.
        seconds: the time for questions after the build; questions that remain then
            are reported as unchecked. Every game is played in any case.
        on_test: receives a description of the current test.
        models: returns the models of the bot in a match, for one game with them.

    Raises:
        InfrastructureError: the arena failed, or a remote bot is not connected.
    """
    if not is_built:
        built = build(bot, builder)
        if built is not None:
            yield built
            if built.failed:
                return
    until = time.monotonic() + seconds
    content = content_hash(bot)
    order = ExaminationOrder(
        bot, content, bot_argument or bot.label, seed, seed_argument, referee, thorough, until
    )
    order = replace(order, models=models)
    claimed = [game for name, game in GAMES.items() if _is_selected(bot, name, games)]
    if not claimed:
        yield Check(PLAYS, CheckOutcome.FAILED, "the bot plays none of the requested games")
        return
    on_test(LISTENS)
    listens, at_once = listening_check(order, claimed[0])
    yield listens
    if not listens.failed:
        yield from _Examination(replace(order, at_once=at_once), claimed, on_test).checks()


def _is_selected(bot: Bot, name: str, games: Sequence[str]) -> bool:
    return bot.plays(name) and (not games or name in games)


class _Examination:
    """The examination of a bot that starts."""

    def __init__(self, order: ExaminationOrder, games: Sequence[Game], on_test: OnTest) -> None:
        self._order = order
        self._games = games
        self._on_test = on_test
        self._watch = Stopwatch([])
        self._written: list[int] = []

    def checks(self) -> Iterator[Check]:
        """Yield the checks of all games, then those of the clock and the output."""
        until = self._order.until
        for number, game in enumerate(self._games):
            # A game that needs less than its share of the time leaves the rest to the later games.
            now = time.monotonic()
            share = max(0.0, until - now) / (len(self._games) - number)
            self._order = replace(self._order, until=now + share)
            yield from self._table_checks(game)
            yield from self._question_checks(game)
        yield self._watch.check(self._order)
        yield self._output_check()
        if (bot := self._order.bot).manifest is not None and bot.manifest.models:
            yield self._models_check(self._games[0])

    def _models_check(self, game: Game) -> Check:
        """Play one game in which the bot at one seat has its models."""
        self._on_test(f"{game.id}: {MODELS}")
        began = time.monotonic()
        granted: list[bool] = []

        def models_of(spec: MatchSpec) -> MatchModels | None:
            models = self._order.models(spec)
            granted.append(models is not None)
            return models

        form = replace(examined_forms.forms(game)[0], clock=_MODEL_CLOCK)
        try:
            played = play(self._order, form, MODELS, 1, began + _TABLE_SECONDS, models_of)
        except InfrastructureError as error:
            return self._unchecked(MODELS, game, str(error))
        if not any(granted):
            why = "no model is granted to the bot"
            return Check(MODELS, CheckOutcome.SKIPPED, why, game.id)
        if played.fault is not None:
            return fault_check(self._order, MODELS, played)
        if not played.games:
            why = f"no game ended within {_TABLE_SECONDS:.0f} s"
            return self._unchecked(MODELS, game, why)
        took = time.monotonic() - began
        sentence = f"{form.form}: a game of {len(played.times)} decisions"
        return Check(MODELS, CheckOutcome.PASSED, sentence, game.id, took)

    def _skipped(self, game: Game, why: str) -> Check:
        return Check(
            PLAYS, CheckOutcome.SKIPPED, why, game.id, command=self._order.test_command(game.id)
        )

    def _unchecked(self, name: str, game: Game, why: str) -> Check:
        return Check(
            name, CheckOutcome.UNCHECKED, why, game.id, command=self._order.test_command(game.id)
        )

    def _question_checks(self, game: Game) -> Iterator[Check]:
        """Send edge-case questions in a varied selection of forms of the game."""
        tried = (
            examined_forms.varied_forms(game)
            if self._order.thorough
            else examined_forms.forms(game)[-1:]
        )
        by_name: dict[str, list[QuestionResult]] = {}
        broken: list[str] = []
        began = time.monotonic()
        for form in tried:
            if len(broken) >= _MAX_BROKEN_CHECKS:
                break
            self._on_test(f"{form.form}: awkward questions")
            sheet = self._sheet(form)
            for finding in QuestionRounds(self._order, form, sheet).findings(broken):
                by_name.setdefault(finding.name, []).append(finding)
                if finding.broken is not None:
                    broken.append(finding.name)
        took = time.monotonic() - began
        for name, findings in by_name.items():
            if any(finding.unchecked for finding in findings):
                why = "the time limit of the examination was reached"
                yield self._unchecked(name, game, why)
                continue
            yield _questions_check(name, game, findings, took / len(by_name))

    def _sheet(self, form: MatchSettings) -> QuestionSheet:
        seat, games, each = self._order.question_arguments(form)
        return prepare_questions(form, seat, self._order.seed, games, each)

    def _table_checks(self, game: Game) -> Iterator[Check]:
        """Play a table in each form and one long table."""
        tried = (
            examined_forms.forms(game) if self._order.thorough else examined_forms.forms(game)[:1]
        )
        failed = decisions = done = 0
        began = time.monotonic()
        for number, form in enumerate(tried):
            if failed >= _MAX_FAILED_FORMS:
                left = len(tried) - number
                yield self._skipped(game, f"{left} more forms: {failed} have failed already")
                return
            self._on_test(f"{form.form}: plays")
            played = self._play(form, PLAYS, 2, _TABLE_SECONDS)
            done += 1
            decisions += len(played.times)
            if played.fault is not None:
                failed += 1
                yield fault_check(self._order, PLAYS, played)
        if not failed:
            every = len(examined_forms.forms(game))
            extent = f"{done} of {every} forms" if done < every else _forms(done)
            sentence = f"{extent}, every seat · {decisions:,} decisions, all legal and in time"
            if decisions:
                took = time.monotonic() - began
                yield Check(PLAYS, CheckOutcome.PASSED, sentence, game.id, took)
            else:
                yield self._unchecked(PLAYS, game, f"no game ended within {_TABLE_SECONDS:.0f} s")
        if not failed and self._order.thorough:
            yield self._long_table_check(tried[0])

    def _long_table_check(self, form: MatchSettings) -> Check:
        self._on_test(f"{form.form}: {LONG_TABLE}")
        began = time.monotonic()
        played = self._play(form, LONG_TABLE, _LONG_TABLE_GAMES, _LONG_TABLE_SECONDS)
        if played.fault is not None:
            return fault_check(self._order, LONG_TABLE, played)
        if not played.games:
            return self._unchecked(
                LONG_TABLE, form.rules, f"no game ended within {_LONG_TABLE_SECONDS:.0f} s"
            )
        many = f"{len(played.games)} games, {len(played.times):,} decisions by the same processes"
        many += f" in {_LONG_TABLE_SECONDS:.0f} s" * played.unfinished
        return Check(LONG_TABLE, CheckOutcome.PASSED, many, form.game, time.monotonic() - began)

    def _play(
        self, form: MatchSettings, what: str, boards: int, seconds: float
    ) -> ExaminationMatch:
        until = time.monotonic() + seconds
        try:
            played = play(self._order, form, what, boards, until)
        except InfrastructureError:
            # Retry once: on a busy machine a referee can miss its clocks, which is not the bot's
            # fault.
            played = play(self._order, form, what, boards, until)
        self._watch.take(played)
        self._written += [len(report.output) for report in played.reports]
        return played

    def _output_check(self) -> Check:
        if self._order.bot.remote:
            return Check(QUIET, CheckOutcome.SKIPPED, "the output of remote bots is not checked")
        if not self._written:
            return Check(QUIET, CheckOutcome.UNCHECKED, "no table was played to its end")
        most = max(self._written)
        many = f"{len(self._written)} processes"
        if most < _MAX_OUTPUT_BYTES:
            return Check(
                QUIET, CheckOutcome.PASSED, f"at most {most} bytes written by one of {many}"
            )
        return Check(
            QUIET,
            CheckOutcome.REMARK,
            f"one of {many} wrote more than {_MAX_OUTPUT_BYTES // 1024} KiB: the middle is not "
            f"kept, and more than {Limits().output // MIB} MiB is a fault",
        )


def _questions_check(
    name: str, game: Game, findings: Sequence[QuestionResult], seconds: float
) -> Check:
    """Combine the findings of one kind from all forms of a game into a check."""
    broken = next((finding.broken for finding in findings if finding.broken), None)
    if broken is not None:
        return _failing_check(name, game, broken, seconds)
    questions = sum(finding.questions for finding in findings)
    listed = max(finding.listed for finding in findings)
    remark = next((finding.remark for finding in findings if finding.remark), "")
    parts = [f"{questions} question{'s' * (questions != 1)} in {_forms(len(findings))}"] * (
        questions > 0
    )
    parts += [f"up to {listed:,} actions"] * (listed > 1)
    parts += [remark] * (bool(remark) and (not questions or name == TOGETHER))
    outcome = CheckOutcome.PASSED if questions else CheckOutcome.SKIPPED
    return Check(name, outcome, " · ".join(parts), game.id, seconds)


def _failing_check(name: str, game: Game, broken: FailingQuestion, seconds: float) -> Check:
    return Check(
        name,
        CheckOutcome.REMARK if broken.remark else CheckOutcome.FAILED,
        broken.sentence,
        game.id,
        seconds,
        broken.question,
        broken.command,
        broken.record,
        broken.output,
    )


def _forms(number: int) -> str:
    return f"{number} form{'s' * (number != 1)}"
