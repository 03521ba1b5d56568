"""The command `pokearena ask`: send one recorded question to a bot again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, OK, USAGE, CommandError
from arena.cli.options import data_option, json_option

if TYPE_CHECKING:
    from arena.bots.bot import Bot
    from arena.cli.develop.from_start import Recalled
    from arena.cli.develop.recorded_question import Answer
    from arena.cli.matches.record_lookup import RecordSource
    from referee.replay import RecordedQuestion

_SHOWN_ACTIONS = 12
_FOR_EVER = 7 * 24 * 3600.0
_QUESTION = re.compile(r"(.+?):([0-9]{1,9}:[0-9]{1,9}(?:,[0-9]{1,9}:[0-9]{1,9})*)", re.DOTALL)


@click.command(epilog="Example: pokearena ask m-7f3k9q2xwd:0:17 ./mybot")
@click.argument("question", metavar="MATCH:GAME:DECISION")
@click.argument("bot")
@click.option(
    "--patience",
    type=click.FloatRange(0.001),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the answer; its clock does not run here.",
)
@click.option(
    "--play",
    "by_play",
    is_flag=True,
    help="Ask by Play, as the referee does; several questions always are.",
)
@click.option(
    "--from-start",
    is_flag=True,
    help="Put all that it was asked at its table before, first: for bots that remember.",
)
@click.option(
    "--debug", is_flag=True, help="Wait for ever, to start and to answer: for a debugger."
)
@json_option
@data_option
def ask(
    question: str,
    bot: str,
    patience: float,
    by_play: bool,
    from_start: bool,
    debug: bool,
    as_json: bool,
    data: Path | None,
) -> int:
    """Put one recorded question to a bot again.

    The question is put exactly as it was: dealt again, replayed up to that decision. Says what
    the bot answers, whether it is legal, and how long it took. MATCH may be a file. Questions of
    several games in one message are MATCH:GAME:DECISION,GAME:DECISION. With --from-start one
    process is told of the start of the table and put all its seat was asked there up to the
    question, in the same messages; where its answers first differ from those of then is said.
    """
    from arena.cli.bots import builds
    from arena.cli.develop import recorded_question
    from arena.cli.matches import record_lookup
    from arena.cli.workspace import Workspace

    workspace = Workspace(data)
    match, places = _parts(question)
    found = record_lookup.find(workspace, match)
    limits = (_FOR_EVER, _FOR_EVER) if debug else (patience, _start_seconds(found))
    asked = builds.up_to_date(workspace, workspace.bot(bot))
    recalled = None
    if from_start:
        recalled = _recall(found, places, asked, limits)
        puts, answers = [recalled.question], [recalled.answer]
    else:
        puts = [recorded_question.asked(found, game, decision) for game, decision in places]
        if by_play or len(puts) > 1:
            from arena.cli.develop import batch_questions

            answers = batch_questions.ask(found, puts, asked, *limits)
        else:
            answers = [recorded_question.ask(found, puts[0], asked, *limits)]
    told = list(zip(puts, answers, strict=True))
    good = all(answer.legal if debug else answer.good for answer in answers)
    if as_json:
        many = [_as_json(found, put, answer) for put, answer in told]
        said = many[0] if len(many) == 1 else {"answers": many}
        output.document({"bot": bot, **said, **({} if recalled is None else _before(recalled))})
    else:
        for put, answer in told:
            _show(found, put, answer, bot, debug)
        if recalled is not None:
            _show_before(found, recalled)
        elif good and any(_fault(found, put) for put in puts):
            output.line(
                "it did not happen again; a bot that remembers is asked all by --from-start"
            )
        output.next_step(f"pokearena replay {match} --game {places[0][0]}")
    return OK if good else FAILED


def _start_seconds(found: RecordSource) -> float:
    return float(found.record.match["clock"]["start_ms"]) / 1000


def _recall(
    found: RecordSource, places: list[tuple[int, int]], bot: Bot, limits: tuple[float, float]
) -> Recalled:
    from arena.cli.develop import from_start

    if len(places) > 1:
        raise CommandError("--from-start puts one question, after those before it.", USAGE)
    return from_start.ask(found, *places[0], bot, *limits)


def _before(recalled: Recalled) -> dict[str, object]:
    differs = recalled.differs
    return {
        "before": recalled.before,
        "differs": None if differs is None else differs.to_json(),
    }


def _show_before(found: RecordSource, recalled: Recalled) -> None:
    from referee.games.registry import find
    from referee.replay import in_words

    game, differs = find(found.record.match["game"]), recalled.differs
    asked = f"before  {recalled.before} questions"
    if differs is None:
        broken = recalled.answer.trouble
        output.line(asked if broken else f"{asked}, answered as they were then")
        return
    then, now = (in_words(game, action) for action in (differs.recorded, differs.answer))
    where = f"game {differs.game}, decision {differs.decision}"
    output.told(f"{asked}; the first that is answered otherwise: {where}, then {then}, now {now}")


def _parts(question: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the match, and the game and decision of every question."""
    said = _QUESTION.fullmatch(question)
    if said is None:
        raise CommandError(
            f'"{question}" is no question; write MATCH:GAME:DECISION, for example m-7f3k9q:0:17.',
            USAGE,
        )
    places = [workspace.split(":") for workspace in said[2].split(",")]
    return said[1], [(int(game), int(decision)) for game, decision in places]


def _show(
    found: RecordSource, put: RecordedQuestion, answer: Answer, bot: str, debug: bool
) -> None:
    from google.protobuf.json_format import MessageToDict

    from arena.cli.output import clean
    from referee.games.registry import find
    from referee.replay import in_words

    game = find(found.record.match["game"])
    request = MessageToDict(put.request)
    number = request.get("decision", 0)
    output.line(f"{found.id} · game {put.request.game}, decision {number}, seat {put.request.seat}")
    for view in request.get("view", {}).values():
        output.told(f"hand    {' '.join(view.get('hand', ())) or '–'}")
    legal = [in_words(game, action) for action in request.get("legal", [])]
    if legal:
        more = " | ..." * (len(legal) > _SHOWN_ACTIONS)
        output.told(f"legal   {' | '.join(legal[:_SHOWN_ACTIONS])}{more}")
    was = _recorded(found, put)
    if was is not None:
        output.told(f"then    {in_words(game, was)}")
    if fault := _fault(found, put):
        output.told(f"then    {fault['verdict']}: {clean(fault['sentence'])}")
    if answer.trouble:
        output.line(f"now     {bot}: no action: {answer.trouble}")
    elif answer.action is None:
        output.line(f"now     {bot}: no action")
    else:
        note = f"  “{clean(answer.note)}”" if answer.note else ""
        words = in_words(game, answer.action)
        output.told(f"now     {words}{note}: {'legal' if answer.legal else 'NOT LEGAL'}")
    late = "" if answer.in_time or debug else ": TOO LATE"
    output.line(f"time    {answer.ms:.2f} ms of {answer.limit_ms} ms{late}")
    for count, line in enumerate(answer.output.rstrip().splitlines()):
        output.line(f"{'        ' if count else 'output  '}{line}")


def _fault(found: RecordSource, put: RecordedQuestion) -> Mapping[str, Any] | None:
    """Return the recorded fault at this question, if any."""
    request = put.request
    for fault in found.game(request.game).faults:
        if fault["decision"] == request.decision and fault["seat"] == request.seat:
            return fault
    return None


def _recorded(found: RecordSource, put: RecordedQuestion) -> dict[str, object] | None:
    """Return the recorded action at this decision, if any."""
    for line in found.game(put.request.game).actions:
        if line["decision"] == put.request.decision:
            action: dict[str, object] = line["action"]
            return action
    return None


def _as_json(found: RecordSource, put: RecordedQuestion, answer: Answer) -> dict[str, object]:
    from google.protobuf.json_format import MessageToDict

    return {
        "match": found.id,
        "game": put.request.game,
        "decision": put.request.decision,
        "seat": put.request.seat,
        "question": MessageToDict(put.request),
        "recorded": _recorded(found, put),
        "answer": answer.action,
        "note": answer.note,
        "legal": answer.legal,
        "in_time": answer.in_time,
        "ms": answer.ms,
        "limit_ms": answer.limit_ms,
        "trouble": answer.trouble,
        "output": answer.output,
    }
