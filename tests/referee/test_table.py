"""A table with real bots at real sockets: games, verdicts and clocks."""

import asyncio

import pytest
from pokearena.v1 import bot_pb2, referee_pb2

from referee.faults import CRASHES_TO_FORFEIT, FAULTS_TO_FORFEIT, PROCESS_FAULTS
from referee.presentation.question_text import TEXT_VERSION
from tests.referee.authors import Answer, Author, first, play


def test_a_table_plays_every_board_once_and_notifies_both_bots() -> None:
    authors = [Author(), Author()]
    played = play(authors, boards=3)
    assert [game.number for game in played.games] == [0, 1, 2]
    assert played.verdicts == [["finished", "finished"]] * 3
    assert [len(author.starts) for author in authors] == [1, 1]
    assert [author.starts[0].seat for author in authors] == [0, 1]
    assert authors[0].starts[0].options == {"must_beat": "true"}
    assert authors[0].starts[0].games == 3
    assert [author.ended for author in authors] == [1, 1]


def test_a_bot_without_play_is_asked_by_act_with_equal_results() -> None:
    streams, unary = Author(), Author(streams=False)
    by_stream = play([streams, Author()], boards=2)
    by_act = play([unary, Author()], boards=2)
    actions = [[[a["action"] for a in g.actions] for g in p.games] for p in (by_stream, by_act)]
    assert actions[0] == actions[1]
    assert streams.batches
    assert not unary.batches


def test_games_in_flight_are_limited_by_both_bots_and_share_messages() -> None:
    many, few = Author(games_in_flight=8), Author(games_in_flight=5)
    played = play([many, few], boards=12)
    assert len(played.games) == 12
    assert max(many.batches) <= 5
    assert max(many.batches + few.batches) > 1


def test_a_bot_without_listed_actions_can_play_any_legal_action() -> None:
    def answer(question: bot_pb2.ActRequest) -> Answer:
        assert not question.legal
        assert not question.complete
        action = bot_pb2.Action()
        view = question.view.poke
        if view.phase == "draw":
            action.poke.stand.SetInParent()
        elif view.phase == "lead":
            action.poke.lead.cards.append(view.hand[-1])
        else:
            action.poke.answer.cards.extend(view.hand[: len(view.lead)])
        return Answer(game=question.game, decision=question.decision, action=action)

    played = play([Author(answer, without_legal=True), Author()], options={"must_beat": "false"})
    assert played.verdicts == [["finished", "finished"]]


def test_a_bot_can_request_texts_and_answer_in_words() -> None:
    def answer(question: bot_pb2.ActRequest) -> Answer:
        _, _, listed = question.text.partition("LEGAL ACTIONS\n0: ")
        words = listed.splitlines()[0] if question.decision % 2 else "0"
        return Answer(game=question.game, decision=question.decision, text=words)

    writer, other = Author(answer, with_text=True), Author()
    played = play([writer, other], rules="# Rules")
    assert played.verdicts == [["finished", "finished"]]
    listed = play([Author(), Author()])
    actions = [[line["action"] for line in each.games[0].actions] for each in (played, listed)]
    assert actions[0] == actions[1]
    assert all(question.text.startswith("Poke, 2 seats.") for question in writer.questions)
    assert not any(question.text for question in other.questions)
    starts = [*writer.starts, *other.starts]
    assert {(start.rules, start.text_version) for start in starts} == {("# Rules", TEXT_VERSION)}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("fold", "protocol"), ("99", "protocol"), ("x" * 401, "protocol"), ("lead AS AC", "illegal")],
)
def test_words_that_are_not_a_legal_action_are_a_fault(text: str, verdict: str) -> None:
    def answer(question: bot_pb2.ActRequest) -> Answer:
        return Answer(game=question.game, decision=question.decision, text=text)

    played = play([Author(answer, with_text=True), Author()])
    assert played.verdicts == [[verdict, "finished"]]
    (fault,) = played.games[0].faults
    assert "text" not in fault["question"]


def test_an_answer_with_an_action_and_a_text_is_a_fault() -> None:
    def answer(question: bot_pb2.ActRequest) -> Answer:
        both = first(question)
        both.text = "0"
        return both

    assert play([Author(answer), Author()]).verdicts == [["protocol", "finished"]]


def test_a_question_is_complete_and_has_its_own_luck() -> None:
    author = Author()
    play([author, Author()])
    question = author.questions[0]
    assert (question.match, question.game, question.seat) == ("m-test", 0, 0)
    assert question.view.WhichOneof("game") == "poke"
    assert len(question.view.poke.hand) == 5
    assert question.complete
    assert question.clock.allowance_ms == 60_000
    assert len({each.luck for each in author.questions}) == len(author.questions)


def test_notes_are_recorded_and_truncated() -> None:
    def noting(question: bot_pb2.ActRequest) -> Answer:
        answer = first(question)
        answer.note = "ä\n" * 300
        return answer

    played = play([Author(noting), Author()])
    notes = {a.get("note") for a in played.games[0].actions if a["seat"] == 0}
    assert notes == {"ä\n" * 100}


def test_an_illegal_action_loses_the_game_and_lists_legal_actions() -> None:
    def illegal(question: bot_pb2.ActRequest) -> Answer:
        action = bot_pb2.Action()
        action.poke.draw.discards.extend(["AS", "AS"])
        return Answer(game=question.game, decision=question.decision, action=action)

    played = play([Author(illegal), Author()])
    assert played.verdicts == [["illegal", "finished"]]
    assert played.places == [[2, 1]]
    assert played.games[0].result["scores"] is None
    fault = played.games[0].faults[0]
    assert "draw AS AS" in fault["sentence"]
    assert "legal: stand | draw" in fault["sentence"]
    assert f"game 0, decision {fault['decision']}" in fault["sentence"]
    assert fault["question"]["view"]["poke"]["hand"]


def test_an_answer_without_an_action_and_one_of_another_game_break_the_protocol() -> None:
    def empty(question: bot_pb2.ActRequest) -> Answer:
        return Answer(game=question.game, decision=question.decision)

    def other(question: bot_pb2.ActRequest) -> Answer:
        answer = empty(question)
        answer.action.saint_poker.river.card = "AS"
        return answer

    for nonsense, clause in ((empty, "holds no action"), (other, "action of saint_poker")):
        played = play([Author(), Author(nonsense)])
        assert played.verdicts == [["finished", "protocol"]]
        assert clause in played.sentences[0]


def test_an_answer_to_an_unknown_question_breaks_the_protocol() -> None:
    def mistaken(question: bot_pb2.ActRequest) -> Answer:
        answer = first(question)
        answer.decision += 1
        return answer

    played = play([Author(mistaken), Author()])
    assert played.verdicts == [["protocol", "finished"]]
    assert "which was not asked" in played.sentences[0]


def test_an_answer_that_is_too_large_breaks_the_protocol() -> None:
    def huge(question: bot_pb2.ActRequest) -> Answer:
        answer = first(question)
        answer.note = "x" * (2 << 20)
        return answer

    played = play([Author(huge), Author()])
    assert played.verdicts == [["protocol", "finished"]]
    assert "bytes in one message" in played.sentences[0]


def test_an_error_of_the_bot_breaks_the_protocol_and_is_quoted() -> None:
    def failing(question: bot_pb2.ActRequest) -> Answer:
        raise KeyError("the ace of spades")

    for streams in (True, False):
        played = play([Author(failing, streams=streams), Author()])
        assert played.verdicts == [["protocol", "finished"]]
        assert "the ace of spades" in played.sentences[0]


def test_a_bot_that_exceeds_allowance_and_bank_times_out() -> None:
    async def sleeping(question: bot_pb2.ActRequest) -> Answer:
        await asyncio.sleep(60)
        return first(question)

    # The second seat acts first, so the other one is asked nothing.
    for streams in (True, False):
        played = play([Author(), Author(sleeping, streams=streams)], allowance_ms=50, bank_ms=100)
        assert played.verdicts == [["finished", "timeout"]]
        assert played.games[0].result["bank_ms"] == [0.0, 100.0]
        assert "150 ms" in played.sentences[0]


def test_a_question_contains_the_measured_time_of_the_previous_answer() -> None:
    async def slow(question: bot_pb2.ActRequest) -> Answer:
        await asyncio.sleep(0.05 if len(author.questions) == 1 else 0)
        return first(question)

    author = Author(slow)
    played = play([author, Author()], boards=2)
    taken = [line["ms"] for game in played.games for line in game.actions if line["seat"] == 0]
    assert taken[0] >= 50
    sent = [question.clock.last_ms for question in author.questions]
    assert sent[0] == 0
    assert sent[1:] == pytest.approx(taken[:-1], abs=0.6)
    assert author.starts[0].clock.last_ms == 0


def test_time_beyond_the_allowance_is_taken_from_the_bank() -> None:
    async def slow(question: bot_pb2.ActRequest) -> Answer:
        if question.decision < 2:
            await asyncio.sleep(0.15)
        return first(question)

    author = Author(slow)
    played = play([author, Author()], allowance_ms=50, bank_ms=5000)
    assert played.verdicts == [["finished", "finished"]]
    assert played.games[0].result["bank_ms"][0] > 90
    assert author.questions[-1].clock.bank_ms < 4910


def test_the_third_fault_forfeits_the_rest_of_the_table() -> None:
    def illegal(question: bot_pb2.ActRequest) -> Answer:
        action = bot_pb2.Action()
        action.poke.lead.cards.append("ZZ")
        return Answer(game=question.game, decision=question.decision, action=action)

    played = play([Author(illegal), Author()], boards=5)
    assert [verdicts[0] for verdicts in played.verdicts] == ["illegal"] * 3 + ["forfeit"] * 2
    assert [game.result["faults"][0] for game in played.games] == [1, 1, 1, 0, 0]
    assert played.places == [[2, 1]] * 5


def test_faults_and_banks_of_an_earlier_attempt_still_count() -> None:
    def illegal(question: bot_pb2.ActRequest) -> Answer:
        return Answer(game=question.game, decision=question.decision)

    rights = [{"faults": 2, "bank_ms": 7}, {"faults": 1, "bank_ms": 9}]
    author = Author(illegal)
    played = play([author, Author()], boards=2, rights=rights)
    assert played.verdicts == [["protocol", "finished"], ["forfeit", "finished"]]
    assert author.questions[0].clock.bank_ms == 7


def test_with_more_than_two_sides_a_fault_costs_the_others_nothing() -> None:
    def illegal(question: bot_pb2.ActRequest) -> Answer:
        return Answer(game=question.game, decision=question.decision)

    honest = [Author(), Author()]
    played = play([honest[0], Author(illegal), honest[1]], game="saint_poker")
    game = played.games[0]
    assert game.result["verdicts"] == ["finished", "protocol", "finished"]
    assert sum(game.result["scores"]) == 36
    assert game.result["places"][1] == 3
    by_referee = [line for line in game.actions if line.get("by") == "referee"]
    assert {line["seat"] for line in by_referee} == {1}
    assert len(by_referee) == 30  # 8 rounds of a river card and a show, 7 of two pick-ups


def test_when_all_of_a_table_of_three_fault_they_share_the_place() -> None:
    def illegal(question: bot_pb2.ActRequest) -> Answer:
        return Answer(game=question.game, decision=question.decision)

    played = play([Author(illegal)] * 3, game="saint_poker")
    assert played.verdicts == [["protocol"] * 3]
    assert played.places == [[1, 1, 1]]


def test_at_an_unforgiving_table_the_first_fault_forfeits_the_rest() -> None:
    def empty(question: bot_pb2.ActRequest) -> Answer:
        return Answer(game=question.game, decision=question.decision)

    played = play([Author(empty), Author()], boards=3, unforgiving=True)
    assert [verdicts[0] for verdicts in played.verdicts] == ["protocol", "forfeit", "forfeit"]
    assert played.places == [[2, 1]] * 3


def test_strict_stops_the_table_at_the_first_fault() -> None:
    def illegal(question: bot_pb2.ActRequest) -> Answer:
        return Answer(game=question.game, decision=question.decision)

    for game, seats in (("poke", 2), ("saint_poker", 3)):
        bots = [Author(illegal), *(Author() for _ in range(seats - 1))]
        played = play(bots, game=game, boards=4, strict=True)
        assert len(played.games) == 1
        assert played.games[0].result["scores"] is None
        assert len(played.sentences) == 1


def test_a_bot_that_does_not_listen_forfeits_with_one_fault() -> None:
    played = play(["nobody", Author()], boards=3, start_ms=1000)
    assert [verdicts[0] for verdicts in played.verdicts] == ["init", "forfeit", "forfeit"]
    assert len(played.sentences) == 1
    assert "did not listen within 1 s" in played.sentences[0]
    assert played.places == [[2, 1]] * 3


def test_when_no_bot_starts_every_game_is_a_draw() -> None:
    played = play(["nobody", "nobody"], boards=2, start_ms=300)
    assert played.places == [[1, 1]] * 2


def test_a_report_of_an_ended_process_makes_a_fault_a_crash_with_its_output() -> None:
    def failing(question: bot_pb2.ActRequest) -> Answer:
        raise KeyError("x")

    def report(faulted: referee_pb2.BotFaulted) -> referee_pb2.BotReport:
        return referee_pb2.BotReport(
            seat=faulted.seat, ended="exited with status 1", output="Traceback: x"
        )

    played = play([Author(failing), Author()], boards=3, report=report)
    assert [verdicts[0] for verdicts in played.verdicts] == ["crash", "crash", "forfeit"]
    assert [fault.restart for fault in played.faulted] == [True, False]
    fault = played.games[0].faults[0]
    assert fault["ended"] == "exited with status 1"
    assert fault["output"] == "Traceback: x"
    assert fault["sentence"].endswith("; its process exited with status 1")


def test_a_process_that_exceeded_its_resources_has_that_verdict() -> None:
    def failing(question: bot_pb2.ActRequest) -> Answer:
        raise KeyError("x")

    def report(faulted: referee_pb2.BotFaulted) -> referee_pb2.BotReport:
        return referee_pb2.BotReport(seat=faulted.seat, ended="was stopped", resources=True)

    played = play([Author(), Author(failing)], report=report)
    assert played.verdicts == [["finished", "resources"]]


def test_a_crash_ends_all_games_in_flight_and_counts_once() -> None:
    crashed: list[int] = []

    def failing_once(question: bot_pb2.ActRequest) -> Answer:
        if question.decision > 2 and not crashed:
            crashed.append(question.game)
            raise KeyError("x")
        return first(question)

    def report(faulted: referee_pb2.BotFaulted) -> referee_pb2.BotReport:
        return referee_pb2.BotReport(seat=faulted.seat, ended="exited with status 1")

    bots = [Author(failing_once, games_in_flight=3), Author(games_in_flight=3)]
    played = play(bots, boards=6, report=report)
    kinds = [verdicts[0] for verdicts in played.verdicts]
    assert kinds == ["crash"] * 3 + ["finished"] * 3
    assert sum(game.result["crashes"][0] for game in played.games) == 1
    assert len(bots[0].starts) == 2
    assert len(bots[1].starts) == 1


def test_a_crash_in_the_last_game_requests_no_fresh_process() -> None:
    def failing(question: bot_pb2.ActRequest) -> Answer:
        raise KeyError("x")

    def report(faulted: referee_pb2.BotFaulted) -> referee_pb2.BotReport:
        return referee_pb2.BotReport(seat=faulted.seat, ended="exited with status 1")

    author = Author(failing)
    played = play([author, Author()], report=report)
    assert played.verdicts == [["crash", "finished"]]
    assert [fault.restart for fault in played.faulted] == [False]
    assert len(author.starts) == 1


def test_a_fault_contains_clock_answer_and_process_exit() -> None:
    def illegal(question: bot_pb2.ActRequest) -> Answer:
        action = bot_pb2.Action()
        action.poke.lead.cards.append("ZZ")
        return Answer(game=question.game, decision=question.decision, action=action)

    def report(faulted: referee_pb2.BotFaulted) -> referee_pb2.BotReport:
        return referee_pb2.BotReport(
            seat=faulted.seat, output="y" * (70 << 10), exit_status=0, signal="", peak_memory=7
        )

    played = play([Author(illegal), Author()], allowance_ms=300, bank_ms=4000, report=report)
    fault = played.games[0].faults[0]
    clock = fault["clock"]
    assert 0 < clock.pop("ms") < 4300
    assert clock == {"limit_ms": 4300.0, "allowance_ms": 300, "bank_ms": 4000.0}
    assert fault["answer"] == {"poke": {"lead": {"cards": ["ZZ"]}}}
    assert (fault["exit_status"], fault["peak_memory"]) == (0, 7)
    assert fault["output"] == "y" * (64 << 10)
    assert "signal" not in fault


def test_a_crash_of_many_games_stores_its_output_once() -> None:
    def failing(question: bot_pb2.ActRequest) -> Answer:
        raise KeyError("x")

    def report(faulted: referee_pb2.BotFaulted) -> referee_pb2.BotReport:
        return referee_pb2.BotReport(
            seat=faulted.seat, ended="was killed by SIGSEGV", signal="SIGSEGV", output="last words"
        )

    # Three games in which each has its first question at the same time.
    bots = [Author(failing, games_in_flight=3), Author(games_in_flight=3)]
    played = play(bots, game="saint_poker", boards=3, report=report)
    faults = [fault for game in played.games for fault in game.faults]
    assert len(faults) == 3
    assert {fault["signal"] for fault in faults} == {"SIGSEGV"}
    (with_output,) = [fault for fault in faults if "output" in fault]
    assert with_output["output"] == "last words"
    others = [fault for fault in faults if fault is not with_output]
    assert {fault["output_in"] for fault in others} == {with_output["game"]}
    assert {fault["clock"]["questions"] for fault in faults} == {3}


def test_the_faults_that_a_seat_may_make_are_the_documented_ones() -> None:
    assert (FAULTS_TO_FORFEIT, CRASHES_TO_FORFEIT) == (3, 2)
    assert {"crash", "resources"} == PROCESS_FAULTS
