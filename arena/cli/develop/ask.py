"""The command `pokearena ask`: send one recorded question to a bot again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import FAILED, OK, usage_error
from arena.cli.options import data_option, json_option, network_option
from arena.cli.output import clean
from arena.cli.workspace import Workspace
from referee.numbering import counted_from_one, decision_text, seat_text

if TYPE_CHECKING:
    from arena.cli.develop.question_messages import HistoryAnswer
    from arena.cli.develop.recorded_question import BotAnswer
    from arena.cli.matches.record_lookup import RecordSource
    from referee.replay import RecordedQuestion

_SHOWN_ACTIONS = 12
_FOR_EVER = 7 * 24 * 3600.0
_QUESTION = re.compile(r"(.+?):([0-9]{1,9}:[0-9]{1,9}(?:,[0-9]{1,9}:[0-9]{1,9})*)", re.DOTALL)


@click.command(epilog="Example: pokearena ask m-7f3k9q2xwd:0:17 ./mybot")
@click.argument("question", metavar="MATCH:GAME:DECISION", shell_complete=completers.matches)
@click.argument("bot", shell_complete=completers.bots)
@click.option(
    "--patience",
    type=click.FloatRange(0.001),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of the answer; the clock of the match does not apply.",
)
@click.option(
    "--play",
    "by_play",
    is_flag=True,
    help="Send the question with Play, as the referee does; default for several questions.",
)
@click.option(
    "--from-start",
    is_flag=True,
    help="Send all earlier questions of the table first: for bots with memory.",
)
@network_option
@click.option("--debug", is_flag=True, help="Wait without a time limit, for a debugger.")
@json_option
@data_option
def ask(
    question: str,
    bot: str,
    patience: float,
    by_play: bool,
    from_start: bool,
    network: bool,
    debug: bool,
    as_json: bool,
    workspace: Workspace,
) -> int:
    """Send a recorded question to a bot again.

    The question is the same as in the match: the game is dealt again and replayed up to the
    decision. Prints the answer, whether it is legal, and its duration. MATCH can be a file, or
    `last` for the newest match of `pokearena play`; GAME and DECISION are numbers from 0.
    MATCH:GAME:DECISION,GAME:DECISION sends questions of several games in one message.
    --from-start sends the start of the table and all earlier questions of the seat first, in the
    same messages, and prints the first answer that differs from the record.
    """
    from arena.cli.bots import registration
    from arena.cli.develop import question_messages, recorded_question
    from arena.cli.matches import record_lookup

    match, places = _parts(question)
    source = record_lookup.find_record(workspace, match)
    start = float(source.record.match["clock"]["start_ms"]) / 1000
    limits = (_FOR_EVER, _FOR_EVER) if debug else (patience, start)
    granted = registration.with_network(workspace.bot(bot), granted=network)
    built = registration.up_to_date(workspace, granted)
    history = None
    if from_start:
        if len(places) > 1:
            raise usage_error("--from-start needs exactly one question.")
        history = question_messages.ask_in_order(source, *places[0], built, *limits)
        questions, answers = [history.question], [history.answer]
    else:
        questions = [
            recorded_question.question_of_decision(source, game, decision)
            for game, decision in places
        ]
        answers = question_messages.ask_questions(
            source, questions, built, *limits, by_play=by_play or len(questions) > 1
        )
    answered = list(zip(questions, answers, strict=True))
    good = all(answer.legal if debug else answer.good for answer in answers)
    if as_json:
        many = [_as_json(source, recorded, answer) for recorded, answer in answered]
        document = many[0] if len(many) == 1 else {"answers": many}
        output.document(
            {"bot": bot, **document, **({} if history is None else _history_json(history))}
        )
    else:
        for recorded, answer in answered:
            _show(source, recorded, answer, bot, debug)
        if history is not None:
            _show_history(source, history)
        elif good and any(_fault(source, recorded) for recorded in questions):
            output.line("the fault did not happen again; for a bot with memory, add --from-start")
        output.next_step(f"pokearena replay {match} --game {places[0][0]}")
    return OK if good else FAILED


def _history_json(history: HistoryAnswer) -> dict[str, object]:
    differs = history.differs
    return {
        "before": history.before,
        "differs": None if differs is None else asdict(differs),
    }


def _show_history(source: RecordSource, history: HistoryAnswer) -> None:
    from referee.games.registry import find_game
    from referee.replay import in_words

    game, differs = find_game(source.record.match["game"]), history.differs
    summary = f"before  {history.before} questions"
    if differs is None:
        broken = history.answer.trouble
        output.line(summary if broken else f"{summary}, with the recorded answers")
        return
    then, now = (in_words(game, action) for action in (differs.recorded, differs.answer))
    where = decision_text(differs.game, differs.decision)
    output.game_line(f"{summary}; the first different answer: {where}, then {then}, now {now}")


def _parts(question: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the match, and the game and decision of every question."""
    parts = _QUESTION.fullmatch(question)
    if parts is None:
        raise usage_error(
            f'"{question}" is not a question; write MATCH:GAME:DECISION, such as m-7f3k9q:0:17.'
        )
    places = [place.split(":") for place in parts[2].split(",")]
    return parts[1], [(int(game), int(decision)) for game, decision in places]


def _show(
    source: RecordSource, recorded: RecordedQuestion, answer: BotAnswer, bot: str, debug: bool
) -> None:
    from referee.games.registry import find_game
    from referee.generic_codec import has_messages, json_of_message
    from referee.replay import in_words

    game = find_game(source.record.match["game"])
    request = json_of_message(recorded.request)
    number = request.get("decision", 0)
    game_number, seat = recorded.request.game, recorded.request.seat
    output.line(f"{source.id} · {decision_text(game_number, number)}, {seat_text(seat)}")
    for view in request.get("view", {}).values():
        if has_messages(game.id) or "hand" in view:
            output.game_line(f"hand    {_words(view.get('hand', ()))}")
    legal = [in_words(game, action) for action in request.get("legal", [])]
    if legal:
        more = " | ..." * (len(legal) > _SHOWN_ACTIONS)
        output.game_line(f"legal   {' | '.join(legal[:_SHOWN_ACTIONS])}{more}")
    recorded_action = _recorded_action(source, recorded)
    if recorded_action is not None:
        output.game_line(f"then    {in_words(game, recorded_action)}")
    if fault := _fault(source, recorded):
        sentence = counted_from_one(clean(fault["sentence"]))
        output.game_line(f"then    {fault['verdict']}: {sentence}")
    if answer.trouble:
        output.line(f"now     {bot}: no action: {counted_from_one(answer.trouble)}")
    elif answer.action is None:
        output.line(f"now     {bot}: no action")
    else:
        note = f"  “{clean(answer.note)}”" if answer.note else ""
        words = in_words(game, answer.action)
        output.game_line(f"now     {words}{note}: {'legal' if answer.legal else 'NOT LEGAL'}")
    late = "" if answer.in_time or debug else ": TOO LATE"
    output.line(f"time    {answer.ms:.2f} ms of {answer.limit_ms} ms{late}")
    for count, line in enumerate(answer.output.rstrip().splitlines()):
        output.line(f"{'        ' if count else 'output  '}{line}")


def _words(hand: object) -> str:
    """Return a hand as text; that of a game of a package is any JSON value."""
    return " ".join(map(str, hand if isinstance(hand, Sequence) else (hand,))) or "–"


def _fault(source: RecordSource, recorded: RecordedQuestion) -> Mapping[str, Any] | None:
    request = recorded.request
    for fault in source.game(request.game).faults:
        if fault["decision"] == request.decision and fault["seat"] == request.seat:
            return fault
    return None


def _recorded_action(source: RecordSource, recorded: RecordedQuestion) -> dict[str, object] | None:
    for line in source.game(recorded.request.game).actions:
        if line["decision"] == recorded.request.decision:
            action: dict[str, object] = line["action"]
            return action
    return None


def _as_json(
    source: RecordSource, recorded: RecordedQuestion, answer: BotAnswer
) -> dict[str, object]:
    from referee.generic_codec import json_of_message

    return {
        "match": source.id,
        "game": recorded.request.game,
        "decision": recorded.request.decision,
        "seat": recorded.request.seat,
        "question": json_of_message(recorded.request),
        "recorded": _recorded_action(source, recorded),
        "answer": answer.action,
        "note": answer.note,
        "legal": answer.legal,
        "in_time": answer.in_time,
        "ms": answer.ms,
        "limit_ms": answer.limit_ms,
        "trouble": answer.trouble,
        "output": answer.output,
    }
