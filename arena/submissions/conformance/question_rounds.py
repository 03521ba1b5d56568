"""Awkward questions to a bot: one by one, repeated, and several in one message."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from arena.bots.bot_session import BotSession, MethodUnimplemented, Response, SessionFailed
from arena.store.match_settings import MatchSettings
from arena.store.matches.spec import MatchSpec
from arena.submissions.conformance.check import CheckRecord
from arena.submissions.conformance.examination_order import ExaminationOrder
from arena.submissions.conformance.question_sheet import (
    PreparedQuestion,
    QuestionKind,
    QuestionSheet,
)
from referee.game_codec import DecodeError
from referee.games.registry import find_game
from referee.numbering import counted_from_one, decision_text, seat_text
from referee.replay import RecordedQuestion, codec_of, in_words

_LISTED: Final = 12
STARTS: Final = "starts at a table"
BY_ACT: Final = "answers by Act too"
TWICE: Final = "the same question twice"
TOGETHER: Final = "many questions in one message"
_REPEATED_QUESTIONS: Final = 3
"""Number of questions for the checks BY_ACT and TWICE."""


class IllegalAnswer(Exception):
    """An answer is not a legal action. The exception's text is a clause about the bot."""


def judge(game_id: str, question: RecordedQuestion, response: Response) -> None:
    """Check that a response is a legal action.

    Raises:
        IllegalAnswer: the response cannot be decoded or is not legal.
    """
    game = find_game(game_id)
    codec = codec_of(game)
    try:
        action = codec.decode(response.action)
    except DecodeError as error:
        raise IllegalAnswer(f"its answer {error}") from None
    if action in question.legal:
        return
    answered = in_words(game, codec.action_json(action))
    first = [action for action, _ in zip(question.legal, range(_LISTED + 1), strict=False)]
    listed = [in_words(game, codec.action_json(listed_action)) for listed_action in first]
    more = " | ..." * (len(listed) > _LISTED)
    raise IllegalAnswer(
        f'it answered "{answered}", which is not legal; legal: {" | ".join(listed[:_LISTED])}{more}'
    )


def fails_alone(
    order: ExaminationOrder,
    spec: MatchSpec,
    question: RecordedQuestion,
    *,
    by_stream: bool = False,
) -> bool:
    """Whether a newly started bot fails at this question alone.

    Args:
        by_stream: False: send it by Act, or by Play without Act, like `pokearena ask`; True: by
            Play.
    """
    try:
        with order.session(spec, question.request.seat) as session:
            if by_stream:
                answers = session.play(question.request)
            else:
                try:
                    answers = [session.act(question.request)]
                except MethodUnimplemented:
                    answers = session.play(question.request)
            judge(spec.game, question, answers[0])
    except (SessionFailed, IllegalAnswer, MethodUnimplemented):
        return True
    return False


@dataclass(frozen=True, slots=True)
class FailingQuestion:
    """A failing question, with the command that repeats it."""

    sentence: str
    question: str
    command: str
    record: CheckRecord
    output: str = ""
    remark: bool = False
    """Whether this is a remark instead of a failure."""


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """Result of the questions of one kind in one form."""

    name: str
    questions: int
    listed: int = 0
    """Length of the longest list of legal actions among the questions."""
    broken: FailingQuestion | None = None
    remark: str = ""
    """Additional remark for the check's sentence."""
    unchecked: bool = False
    """Whether no question was sent because the time limit was reached."""


class QuestionRounds:
    """Sends the questions of one `QuestionSheet` to a bot; an object can be used once."""

    def __init__(self, order: ExaminationOrder, form: MatchSettings, sheet: QuestionSheet) -> None:
        self._order = order
        self._form = form
        self._sheet = sheet
        self._session: BotSession | None = None
        self._streams: bool | None = None
        """Whether the bot answers by Play; None before its first answer."""

    def findings(self, known_broken: Sequence[str]) -> Iterator[QuestionResult]:
        """Yield the findings, without the kinds that already failed in another form."""
        try:
            yield from self._findings(known_broken)
        except SessionFailed as error:  # the bot did not start
            question = self._sheet.question(self._sheet.positions[0].place)
            yield QuestionResult(
                STARTS,
                1,
                broken=FailingQuestion(
                    f"{self._form.form}: it did not start: {error}",
                    question,
                    self._order.ask_command(question),
                    self._sheet.record,
                    error.output,
                ),
            )
        finally:
            self._close()

    def _findings(self, known_broken: Sequence[str]) -> Iterator[QuestionResult]:
        for kind, positions in groupby(self._sheet.positions, key=lambda position: position.kind):
            if kind not in known_broken:
                yield self._unchecked(kind) or self._one_by_one(kind, list(positions))
        ordinary = [p for p in self._sheet.positions if p.kind is QuestionKind.ANY]
        for name, put in ((BY_ACT, self._by_act), (TWICE, self._twice), (TOGETHER, self._batch)):
            if ordinary and name not in known_broken:
                finding = self._unchecked(name) or put(ordinary)
                if finding is not None:
                    yield finding

    def _unchecked(self, name: str) -> QuestionResult | None:
        """Return the result of a check after the time limit; None before it."""
        return QuestionResult(name, 0, unchecked=True) if self._order.over else None

    def _open(self) -> BotSession:
        if self._session is None:
            self._session = self._order.session(self._sheet.spec, self._sheet.seat).__enter__()
        return self._session

    def _close(self) -> None:
        """Close the session; after a failure the next question starts a new process."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _one_by_one(self, kind: str, positions: Sequence[PreparedQuestion]) -> QuestionResult:
        listed = max(position.listed for position in positions)
        for count, position in enumerate(positions):
            session = self._open()
            try:
                self._judge(position, *session.ask(position.recorded.request))
                self._streams = session.streams
            except (SessionFailed, IllegalAnswer) as error:
                broken = self._explain(position, error, session.streams)
                return QuestionResult(kind, count + 1, listed, broken)
        return QuestionResult(kind, len(positions), listed)

    def _by_act(self, positions: Sequence[PreparedQuestion]) -> QuestionResult | None:
        """Send questions by Act to a bot that has Play: `pokearena ask` uses Act by default."""
        if not self._streams:
            return None
        for count, position in enumerate(positions[:_REPEATED_QUESTIONS]):
            try:
                self._judge(position, self._open().act(position.recorded.request))
            except MethodUnimplemented:
                return QuestionResult(BY_ACT, 0, remark="it has Play only, which is enough")
            except (SessionFailed, IllegalAnswer) as error:
                return QuestionResult(
                    BY_ACT, count + 1, broken=self._explain(position, error, False)
                )
        return QuestionResult(BY_ACT, min(_REPEATED_QUESTIONS, len(positions)))

    def _twice(self, positions: Sequence[PreparedQuestion]) -> QuestionResult:
        """Repeat the questions with the most actions, where a different answer is most likely."""
        most = sorted(positions, key=lambda position: -position.listed)[:_REPEATED_QUESTIONS]
        for count, position in enumerate(most):
            try:
                first, second = (self._open().ask(position.recorded.request) for _ in range(2))
                self._judge(position, *first)
                self._judge(position, *second)
            except (SessionFailed, IllegalAnswer) as error:
                broken = self._explain(position, error, self._open().streams)
                return QuestionResult(TWICE, count + 1, broken=broken)
            if first[0].action != second[0].action:
                return QuestionResult(TWICE, count + 1, broken=self._differs(position))
        return QuestionResult(TWICE, len(most))

    def _differs(self, position: PreparedQuestion) -> FailingQuestion:
        question = self._sheet.question(position.place)
        return FailingQuestion(
            f"{self._place_of(position)}: it answered differently. This is not a fault, but seed "
            'random numbers with "luck"; otherwise a match with a seed cannot be repeated '
            "(docs/how-to/bots.md, The same question twice)",
            question,
            self._order.ask_command(question),
            self._sheet.record,
            remark=True,
        )

    def _batch(self, positions: Sequence[PreparedQuestion]) -> QuestionResult | None:
        """Send as many questions of different games in one message as the bot accepts."""
        session = self._open()
        most = min(session.start_response.games_in_flight, len(positions))
        if most < 2 or self._streams is None:
            return None
        if not self._streams:
            remark = (
                f"it takes {session.start_response.games_in_flight} games at once, but has no Play"
            )
            return QuestionResult(
                TOGETHER, 0, remark=f"{remark}: it receives one question at a time"
            )
        put = positions[:most]
        try:
            self._put_together(session, put)
        except (SessionFailed, IllegalAnswer) as error:
            return QuestionResult(TOGETHER, len(put), broken=self._explain_batch(put, error))
        return QuestionResult(TOGETHER, len(put), remark=f"{len(put)} at once")

    def _put_together(self, session: BotSession, positions: Sequence[PreparedQuestion]) -> None:
        answers = session.ask(*(position.recorded.request for position in positions))
        for position, answer in zip(positions, answers, strict=True):
            try:
                self._judge(position, answer)
            except IllegalAnswer as error:
                raise IllegalAnswer(f"{self._place_of(position)}: {error}") from None

    def _explain_batch(
        self, positions: Sequence[PreparedQuestion], error: Exception
    ) -> FailingQuestion:
        question = self._sheet.question(*(position.place for position in positions))
        command = self._order.ask_command(question)
        output = self._output(error)
        try:
            with self._order.session(self._sheet.spec, self._sheet.seat) as session:
                self._put_together(session, positions)
            command = self._order.test_command(self._form.game)
        except (SessionFailed, IllegalAnswer, MethodUnimplemented):
            pass
        clause = counted_from_one(str(error)) if isinstance(error, SessionFailed) else str(error)
        sentence = f"of {len(positions)} questions in one message: {clause}"
        return FailingQuestion(sentence, question, command, self._sheet.record, output)

    def _explain(
        self, position: PreparedQuestion, error: Exception, by_stream: bool
    ) -> FailingQuestion:
        """Describe a failure, after repeating the question alone to a newly started bot."""
        output = self._output(error)
        question = self._sheet.question(position.place)
        sentence, remark = counted_from_one(str(error)), False
        command = self._order.ask_command(question)
        if not (isinstance(error, SessionFailed) and error.late):
            if not fails_alone(self._order, self._sheet.spec, position.recorded):
                if by_stream and fails_alone(
                    self._order, self._sheet.spec, position.recorded, by_stream=True
                ):
                    command = self._order.ask_command(question, "--play")
                    sentence += "; by Act it answers well"
                else:
                    command = self._order.test_command(self._form.game)
                    sentence += "; asked alone it answers well, so the cause is an earlier question"
            elif self._answers_from_start(position):
                remark = True
                sentence += (
                    "; asked from the beginning of the game it answers well, so in a match this "
                    "is not a fault"
                )
        text = f"{self._place_of(position)}: {sentence}"
        return FailingQuestion(text, question, command, self._sheet.record, output, remark)

    def _answers_from_start(self, position: PreparedQuestion) -> bool:
        """Whether a new process answers correctly after all earlier questions of the game."""
        before = self._sheet.before(position)
        if not before:
            return False
        try:
            with self._order.session(self._sheet.spec, self._sheet.seat) as session:
                for request in before:
                    session.ask(request)
                self._judge(position, *session.ask(position.recorded.request))
        except (SessionFailed, IllegalAnswer, MethodUnimplemented):
            return False
        return True

    def _output(self, error: Exception) -> str:
        """Return the bot's output and close the session."""
        if isinstance(error, SessionFailed):
            output = error.output
        else:
            output = "" if self._session is None else self._session.report().output
        self._close()
        return output

    def _place_of(self, position: PreparedQuestion) -> str:
        game, decision = position.place
        return f"{self._form.form}, {decision_text(game, decision)}, {seat_text(self._sheet.seat)}"

    def _judge(self, position: PreparedQuestion, response: Response) -> None:
        judge(self._form.game, position.recorded, response)
