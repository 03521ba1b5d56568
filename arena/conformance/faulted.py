"""A fault at a table of an examination, explained."""

from dataclasses import replace
from typing import Final

from google.protobuf.json_format import ParseDict
from pokearena.v1 import bot_pb2

from arena.conformance.check import Check, Outcome
from arena.conformance.errand import Errand
from arena.conformance.judging import breaks
from arena.conformance.plays import Played
from arena.conformance.positions import rights
from referee.record import Line, read_games
from referee.replay import Question, question

_LATE: Final = "timeout"


def faulted(errand: Errand, name: str, played: Played) -> Check:
    """The check of a table at which the bot has faulted.

    The question is put again to a bot that has been started for it alone. If that answers well,
    it is what it was asked before, or beside it: then all that is to be asked again.
    """
    fault = played.fault
    assert fault is not None
    sentence = f"{played.form.name}: {fault['verdict']}: {fault['sentence']}"
    check = Check(
        name,
        Outcome.FAILED,
        sentence,
        played.form.game.id,
        record=played.record,
        output=str(fault.get("output", "")),
        command=errand.again(played.form.game.id),
    )
    if "question" not in fault:
        return check
    place = f"{played.spec.id}:{fault['game']}:{fault['decision']}"
    check = replace(check, question=place, command=errand.ask(place))
    asked = _question(played, fault)
    if fault["verdict"] == _LATE or breaks(errand, played.spec, asked):
        return check
    if breaks(errand, played.spec, asked, by_stream=True):
        said = f"{sentence}; by Act it answers well"
        return replace(check, sentence=said, command=errand.ask(place, "--play"))
    said = f"{sentence}; asked alone it answers well, so it is what was asked before or beside it"
    if errand.at_once > 1:
        # The record lacks what was asked beside it, in games that the fault ended unfinished.
        return replace(check, sentence=said, command=errand.again(played.form.game.id))
    return replace(check, sentence=said, command=errand.ask(place, "--from-start"))


def _question(played: Played, fault: Line) -> Question:
    """The question of a fault, as it was put."""
    game = next(game for game in played.games if game.game == fault["game"])
    (record,) = read_games(game.record)
    seats = rights(played.spec, fault["seat"])
    rebuilt = question(played.spec.line(), record, played.spec.seed, fault["decision"], seats)
    return Question(ParseDict(fault["question"], bot_pb2.ActRequest()), rebuilt.legal)
