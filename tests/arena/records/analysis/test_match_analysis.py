"""Analysis of play: unbiased expectations, planted blunders, and no use of hidden cards."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
from google.protobuf.json_format import MessageToDict
from pokearena.v1 import bot_pb2

from arena.records.analysis import summary
from arena.records.analysis.engine import NoEngine, StrongEngine, named_engine
from arena.records.analysis.match_analysis import (
    MatchAnalyser,
    NotAnalysable,
    OpenDecision,
    PlayoutRater,
    analyse,
    beaten,
    estimate,
)
from referee.games.contract import Action, Legal, State
from referee.games.pouku.actions import GoOut
from referee.games.registry import GAMES, find_game
from referee.games.shared.dealing import Chance, Seeded, board_seed, derive
from referee.record import GameRecord, Line, MatchRecord
from referee.replay import ReplayStep, codec_of, steps

SEED = bytes(range(32))
Choose = Callable[[State, int, Action], Action]


def engine(game: str, playouts: int) -> StrongEngine:
    small = StrongEngine(game)
    small.playouts = playouts
    return small


def played(game_id: str, seats: int, choose: Choose, seed: bytes = SEED) -> MatchRecord:
    """A match of one game; `choose` may replace the actions of the engine's policy."""
    game, policy = find_game(game_id), StrongEngine(game_id)
    codec = codec_of(game)
    state = game.start(Seeded(board_seed(seed, 0)), seats)
    lines: list[Line] = []
    while state.actors:
        moves = {seat: choose(state, seat, policy.move(state, seat)) for seat in state.actors}
        for seat, action in moves.items():
            message = bot_pb2.Action.FromString(codec.action(action))
            lines.append(
                {
                    "type": "action",
                    "game": 0,
                    "decision": len(lines),
                    "seat": seat,
                    "action": MessageToDict(message),
                    "ms": 1.0,
                }
            )
        state = state.play(moves)
    bots = [f"bot{seat}@1" for seat in range(seats)]
    match = {
        "match": "m-analysed",
        "game": game_id,
        "seats": seats,
        "options": {},
        "entrants": [[bot, bot] for bot in bots],
    }
    return MatchRecord(
        match,
        (GameRecord({"game": 0, "board": 0, "seating": bots}, tuple(lines), (), {}),),
        seed,
    )


@dataclass(frozen=True)
class Wager(State):
    """Seat 0 passes for a draw, or turns a card that wins against seat 1 with chance 1/4."""

    luck: Chance
    passed: bool = False
    result: tuple[int, int] | None = None

    @property
    def actors(self) -> tuple[int, ...]:
        return () if self.result else (0,)

    @property
    def scores(self) -> tuple[int, ...]:
        return self.result or (0, 0)

    def legal(self, seat: int) -> Legal:
        raise NotImplementedError

    def view(self, seat: int) -> None:
        return None

    def public(self) -> None:
        return None

    def redeal(self, seat: int | None, luck: Chance) -> "Wager":
        return self.but(luck=luck)

    def after(self, moves: Mapping[int, Action]) -> "Wager":
        if moves[0] == "pass":
            return self.but(result=(1, 1))
        return self.but(result=(1, 0) if self.luck.below("card", 0, 4) == 0 else (0, 1))


def test_the_expectation_of_a_wager_is_its_probability() -> None:
    rater = PlayoutRater(engine("poke", 0), (0, 1))
    worlds = [
        rater.rate(Wager(Seeded(SEED)).deal_unseen(luck), {0: "turn"})
        for luck in (Seeded(derive(SEED, "world", n)) for n in range(2_000))
    ]
    mine, theirs = (estimate(values) for values in zip(*worlds, strict=True))
    assert abs(mine.mean - 0.25) < 4 * mine.error < 0.05
    assert mine.mean + theirs.mean == pytest.approx(1)
    assert rater.rate(Wager(Seeded(SEED)), {0: "pass"}) == (0.5, 0.5)


def test_sides_share_the_result_of_a_game() -> None:
    assert beaten(Wager(Seeded(SEED), result=(3, 1)), (0, 1)) == (1.0, 0.0)
    assert beaten(Wager(Seeded(SEED), result=(2, 2)), (0, 1)) == (0.5, 0.5)


@pytest.mark.parametrize("game_id", sorted(GAMES))
def test_new_chance_changes_no_view(game_id: str) -> None:
    record = played(game_id, find_game(game_id).seats[0], lambda state, seat, action: action)
    for step in list(steps(record.match, record.games[0], SEED))[::7]:
        other = step.state.deal_unseen(Seeded(derive(SEED, "other", step.decision)))
        for seat in range(record.match["seats"]):
            assert other.view(seat) == step.state.view(seat)


def blunder(state: State, seat: int, action: Action) -> Action:
    """Do not go out at the first opportunity, but discard."""
    nothing_yet = not getattr(state, "deals", ())
    if isinstance(action, GoOut) and nothing_yet:
        return next(other for other in state.legal(seat) if not isinstance(other, GoOut))
    return action


@pytest.mark.long
def test_a_planted_blunder_is_the_costliest_decision() -> None:
    record = played("pouku", 3, blunder)
    analysis = analyse(record, engine=engine("pouku", 2_000))
    worst = analysis.costliest()
    assert worst
    assert any(
        isinstance(each.choice, GoOut) and not isinstance(each.played, GoOut) for each in worst[:3]
    )
    rows = {row.bot: row for row in summary.accuracies(analysis) if row.phase == summary.ALL}
    assert rows[worst[0].bot].mistakes
    assert rows[worst[0].bot].accuracy < 100


@pytest.mark.long
def test_the_engines_choice_loses_nothing_and_is_no_mistake() -> None:
    record = played("pouku", 3, lambda state, seat, action: action)
    analysis = analyse(record, engine=engine("pouku", 1_000))
    agreed = [each for each in analysis.decisions if each.played == each.choice]
    assert agreed
    assert all(each.loss.mean == 0 and not each.mistake for each in agreed)


@pytest.mark.long
def test_an_analysis_repeats_exactly() -> None:
    record = played("pouku", 3, lambda state, seat, action: action)
    first, again = (analyse(record, engine=engine("pouku", 500)) for _ in range(2))
    assert summary.to_json(first, record) == summary.to_json(again, record)
    assert first.engine == "strong"
    assert first.engine_version


@pytest.mark.parametrize("game_id", ["poke", "pouku", "saint_poker"])
def test_hidden_cards_do_not_change_the_judgement_of_a_decision(game_id: str) -> None:
    record = played(game_id, find_game(game_id).seats[0], lambda state, seat, action: action)
    (game,) = record.games
    for step in list(steps(record.match, game, SEED))[1:12:5]:
        line = step.lines[0]
        hidden = step.state.redeal(line["seat"], Seeded(derive(SEED, "hidden", 0)))
        assert hidden != step.state
        changed = ReplayStep(step.decision, hidden, step.lines)
        actual, other = (
            decision
            for position in (step, changed)
            for decision in MatchAnalyser(
                record, SEED, 1, engine(game_id, 500), lambda share: None
            ).judge([OpenDecision(position, line, game)], 300)
        )
        assert actual.loss == other.loss
        assert (actual.choice, actual.before, actual.after) == (
            other.choice,
            other.before,
            other.after,
        )


def test_a_secret_seed_allows_no_analysis() -> None:
    record = played("pouku", 3, lambda state, seat, action: action)
    with pytest.raises(NotAnalysable):
        analyse(MatchRecord(record.match, record.games))


def test_a_game_without_a_plan_has_no_engine() -> None:
    with pytest.raises(NoEngine):
        StrongEngine("plan")


@pytest.mark.long
@pytest.mark.parametrize("game_id", GAMES)
def test_the_engine_of_champion_chooses_legal_actions_repeatably(game_id: str) -> None:
    game = find_game(game_id)
    seats = game.seats[0]
    state = game.start(Seeded(board_seed(SEED, 0)), seats)
    sides = game.sides(seats, game.settle({}))
    champion = named_engine("champion", game_id, seats)
    for _ in range(2):
        choices = {}
        for seat in state.actors:
            choices[seat], _ = champion.choose(state, seat, sides, SEED, 100)
            again, _ = champion.choose(state, seat, sides, SEED, 100)
            assert again == choices[seat]
            assert choices[seat] in state.legal(seat)
        state = state.play(choices)


@pytest.mark.long
@pytest.mark.parametrize(
    "game_id",
    ["poke", *(pytest.param(n, marks=pytest.mark.repetition) for n in ("pouku", "saint_poker"))],
)
def test_luck_is_zero_on_average(game_id: str) -> None:
    lucky = []
    for number in range(20):
        seed = derive(SEED, "match", number)
        record = played(
            game_id, find_game(game_id).seats[0], lambda state, seat, action: action, seed
        )
        analysis = analyse(record, engine=engine(game_id, 500))
        lucky.append(sum(event.luck[0].mean for event in analysis.chance_events))
    mean = estimate(lucky)
    assert mean.error > 0
    assert abs(mean.mean) < 4 * mean.error
