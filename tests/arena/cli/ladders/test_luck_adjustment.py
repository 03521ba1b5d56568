"""`compare --adjusted` and `standings --adjusted`: results without the luck of the cards."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from google.protobuf.json_format import MessageToDict
from pokearena.v1 import bot_pb2

from arena.cli.workspace import Workspace
from arena.ratings import control_variates
from arena.records.luck_adjustment import adjusted_standings, match_luck
from arena.services import idle_computations
from arena.services.idle_computations import measure_luck_of_next
from arena.store.bots import versions
from arena.store.idle_results import LUCK
from arena.store.match_settings import TournamentPlan
from arena.store.matches import games, match_leases
from arena.tournaments import scheduler
from bench.strength import MeasuredForm
from referee.games.contract import Action
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded, board_seed
from referee.replay import codec_of
from tests.arena.cli.stored_tournament import StoreTournament
from tests.arena.cli.terminal import Cli
from tests.arena.records.luck_adjustment.played_boards import mover

FORM = MeasuredForm(find_game("saint_poker"), 2)
BOTS = {"policy@1": mover(FORM), "noisy@1": mover(FORM, 25)}
BOARDS = 12


def record(seed: bytes, number: int, boards: int, seating: Sequence[str]) -> str:
    """Play a game and return its record."""
    table, board = divmod(number, boards)
    state = FORM.game.start(Seeded(board_seed(seed, board)), FORM.seats)
    codec = codec_of(FORM.game)
    lines: list[dict[str, object]] = [
        {"type": "game", "game": number, "table": table, "board": board, "seating": list(seating)}
    ]
    while state.actors:
        moves: dict[int, Action] = {}
        for seat in state.actors:
            decision = len(lines) - 1
            moves[seat] = BOTS[seating[seat]](state, seat, board << 20 | decision << 3 | seat)
            action = MessageToDict(bot_pb2.Action.FromString(codec.action(moves[seat])))
            line = {"type": "action", "game": number, "decision": decision, "seat": seat}
            lines.append({**line, "action": action, "ms": 1.0})
        state = state.play(moves)
    outcome = FORM.game.outcome(state, FORM.sides)
    result = {"type": "result", "game": number, "places": list(outcome.places)}
    none = [0] * FORM.seats
    lines.append(
        {
            **result,
            "scores": list(outcome.scores),
            "verdicts": ["finished"] * FORM.seats,
            "bank_ms": none,
            "crashes": none,
            "faults": none,
        }
    )
    return "".join(json.dumps(line) + "\n" for line in lines)


def store_played_match(workspace: Workspace, boards: int) -> None:
    """Store a match between the two bots with complete records."""
    for number, name in enumerate(BOTS):
        bot, _, version = name.partition("@")
        folder = f"/bots/{bot}"
        versions.add_version(
            workspace.store, bot, version, f"{number:064x}", folder, {"run": ["x"]}
        )
    plan = TournamentPlan(
        name="cup", game=FORM.game.id, options={}, seats=FORM.seats, boards=boards
    )
    scheduler.begin(workspace.store, plan, list(BOTS))
    lease = match_leases.lease(workspace.store, match_leases.due(workspace.store)[0], "w")
    assert lease is not None
    names = lease.spec.versions
    for number in range(lease.spec.games):
        table = number // lease.spec.boards
        seating = [names[(seat + table) % len(names)] for seat in range(len(names))]
        text = record(lease.spec.seed, number, lease.spec.boards, seating)
        match_leases.commit_game(workspace.store, lease, games.read(text, names))


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure luck by one playout, and adjust the results of few boards."""
    monkeypatch.setattr(match_luck, "PLAYOUTS", 1)
    monkeypatch.setattr(control_variates, "FEWEST", BOARDS)
    monkeypatch.setattr(adjusted_standings, "FEWEST", BOARDS)


@pytest.mark.long
@pytest.mark.usefixtures("fast")
def test_adjusted_results_complement_raw_ones(cli: Cli, cwd: Path) -> None:
    store_played_match(Workspace(), BOARDS)
    document = cli("compare", "policy", "noisy", "--adjusted", "--json").json
    adjusted = document["adjusted"]
    assert adjusted["boards"] == BOARDS
    assert adjusted["score"]["raw"] == pytest.approx(document["score"])
    points = adjusted["points_per_board"]
    assert points["raw"] == pytest.approx(document["points_per_board"]["mean"], abs=1e-6)
    assert points["low"] < points["value"] < points["high"]
    again = cli("compare", "noisy", "policy", "--adjusted", "--json").json["adjusted"]
    assert again["score"]["value"] == pytest.approx(1 - adjusted["score"]["value"])
    assert again["score"]["saved"] == pytest.approx(adjusted["score"]["saved"])
    shown = cli("compare", "policy", "noisy", "--adjusted")
    assert "adjusted" in shown.out
    assert "saves a factor of" in shown.out
    assert "raw results decide ranks" in shown.err


def test_few_boards_are_not_adjusted(cli: Cli, cwd: Path) -> None:
    store_played_match(Workspace(), 2)
    result = cli("compare", "policy", "noisy", "--adjusted")
    assert result.status != 0
    assert "at least 40 results, not 2" in result.err


def test_without_the_option_records_are_not_read(
    cli: Cli, stored_tournament: StoreTournament
) -> None:
    stored_tournament(("ace", "bee"), {}, 2)
    assert "adjusted" not in cli("compare", "ace", "bee", "--json").json


@pytest.mark.long
@pytest.mark.usefixtures("fast")
def test_idle_workers_measure_the_luck_that_comparisons_and_standings_use(
    cli: Cli, cwd: Path
) -> None:
    store_played_match(Workspace(), BOARDS)
    computed = cli("compare", "policy", "noisy", "--adjusted", "--json").out
    unmeasured = cli("standings", "--adjusted", "--json").json["adjusted"]
    assert unmeasured[str(FORM)]["lines"] == []
    assert unmeasured[str(FORM)]["matches_measured"] == 0

    store, pauses = Workspace().store, list[None]()
    match = measure_luck_of_next(store, lambda: pauses.append(None))
    assert len(pauses) > 2 * BOARDS
    assert measure_luck_of_next(store) == ""
    assert "policy" not in json.dumps(LUCK.find(store, match))

    assert cli("compare", "policy", "noisy", "--adjusted", "--json").out == computed
    standings = cli("standings", "--adjusted", "--json").json
    table = standings["adjusted"][str(FORM)]
    assert (table["matches_measured"], table["matches"]) == (1, 1)
    by_entrant = {line["entrant"]: line for line in table["lines"]}
    compared = json.loads(computed)["adjusted"]
    assert by_entrant["policy@1"]["score"] == compared["score"]
    assert by_entrant["policy@1"]["points_per_board"] == compared["points_per_board"]
    assert by_entrant["noisy@1"]["boards"] == BOARDS
    shown = cli("standings", "--adjusted")
    assert "adjusted" in shown.out
    assert "raw results" in shown.err


@pytest.mark.usefixtures("fast")
def test_a_rebuilt_ladder_has_its_luck_measured_again(cli: Cli, cwd: Path) -> None:
    store_played_match(Workspace(), 1)
    store = Workspace().store
    match = measure_luck_of_next(store)
    luck = LUCK.find(store, match)
    cli("ladder", "rebuild")
    assert LUCK.find(store, match) is None
    assert measure_luck_of_next(store) == match
    assert LUCK.find(store, match) == luck


def test_a_match_of_too_many_games_has_no_luck(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_computations, "MAX_GAMES", 1)
    store_played_match(Workspace(), 1)
    store = Workspace().store
    match = measure_luck_of_next(store)
    assert LUCK.find(store, match) is None
    assert measure_luck_of_next(store) == ""
