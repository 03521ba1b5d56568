"""Play real tournaments in a store without bot processes: true games and true records."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pokearena.v1 import bot_pb2, referee_pb2
from sqlalchemy import Engine

from arena.ladders import rater
from arena.ratings.closed_match import PlayedGame
from arena.store import database
from arena.store.bots import versions
from arena.store.match_settings import Clock, TournamentPlan
from arena.store.matches import games, match_leases
from arena.store.matches.match_leases import Lease
from arena.store.matches.spec import MatchSpec
from arena.store.matches.table_plan import BoardPlan, TablePlan, plan
from arena.store.schema import TournamentState
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import scheduler
from arena.tournaments.scheduler import Scheduler
from referee.faults import Fault, Verdict
from referee.games.registry import find_game
from referee.games.shared.dealing import board_seed
from referee.replay import RecordedClock, codec_of
from referee.running_game import RunningGame, TableSetting, WrongAnswer
from tests.new_database import write_new_database


def game_of(spec: MatchSpec, table: TablePlan, board: BoardPlan, fault: bool = False) -> PlayedGame:
    """Play a game with random legal actions; the seed of the board determines them.

    If corrections are allowed, some answers are corrected, and some actions are defaults.

    fault: whether the last seat does not answer its first question.
    """
    rules = find_game(spec.game)
    sides = rules.sides(spec.seats, spec.options)
    names = [spec.versions[entrant] for entrant in table.seating]
    setting = TableSetting(
        *(spec.id, rules, codec_of(rules), spec.seats, spec.options, sides),
        table=table.table,
        seating=tuple(names),
    )
    seed = board_seed(spec.seed, board.number)
    play = RunningGame(setting, referee_pb2.Board(game=board.game, number=board.number, seed=seed))
    dice = random.Random(seed + bytes([board.game]))
    rights = [RecordedClock(bot_pb2.Clock()) for _ in range(spec.seats)]
    while questions := dict(play.ask(rights)):
        for seat, question in questions.items():
            if fault and seat == spec.seats - 1:
                play.fault(
                    Fault(seat, board.game, question.decision, Verdict.TIMEOUT, "It was silent.")
                )
                fault = False
                break
            if spec.corrections and question.decision % 5 == 4:
                wrong = WrongAnswer(Verdict.ILLEGAL, "it is not legal")
                play.correct(seat, wrong, 0.5, 0)
            action = dice.choice(question.question.legal)
            default = spec.corrections > 0 and question.decision % 7 == 6
            response = bot_pb2.ActResponse(action=action, played_default=default)
            play.answer(seat, response, dice.random())
        if play.result is not None:
            break
    assert play.result is not None
    return games.finished_game(play.result, table.table, names, spec.versions)


@dataclass
class SimulatedArena:
    """Provide a store, and the random generator that decides what happens in it."""

    folder: Path
    dice: random.Random = field(default_factory=lambda: random.Random(0))
    store: Engine | None = None

    def __post_init__(self) -> None:
        if self.store is None:
            write_new_database(self.folder / "arena.db")
        self.engine: Engine = self.store or database.open(f"sqlite:///{self.folder}/arena.db")
        self._asking = Scheduler(self.engine)

    def bots(self, number: int, first: int = 0) -> list[str]:
        for number_of_bot in range(first, first + number):
            versions.add_version(
                self.engine,
                f"bot{number_of_bot}",
                "1",
                f"{number_of_bot:064x}",
                f"/bots/{number_of_bot}",
                {},
            )
        return [f"bot{number_of_bot}@1" for number_of_bot in range(first, first + number)]

    def begin(
        self,
        pairing: str,
        bots: Sequence[str],
        *,
        game: str = "poke",
        seats: int = 2,
        boards: int = 1,
        seed: bytes | None = bytes(32),
        settings: Mapping[str, int | str] | None = None,
        corrections: int = 0,
        clock: Clock | None = None,
    ) -> Tournament:
        options = find_game(game).settle({})
        made = TournamentPlan(
            name="cup",
            game=game,
            options=options,
            seats=seats,
            boards=boards,
            format=pairing,
            settings=settings or {},
            corrections=corrections,
            clock=clock or Clock(),
        )
        return scheduler.begin(self.engine, made, bots, seed)

    def lease(self, match: str) -> Lease:
        lease = match_leases.lease(self.engine, match, "worker", seconds=600)
        assert lease is not None
        return lease

    def play(self, match: str, most: int | None = None, fault: bool = False) -> None:
        """Play a match, or only its first `most` games, which leaves it open.

        fault: whether a bot does not answer in the last game.
        """
        lease = self.lease(match)
        left = [(table, board) for table in plan(lease.spec) for board in table.boards]
        for table, board in left[:most]:
            silent = fault and (table, board) == left[-1]
            match_leases.commit_game(self.engine, lease, game_of(lease.spec, table, board, silent))

    def wave(self, most: int = 1000) -> int:
        """Play at most `most` due matches in random order and advance the formats.

        Returns the number of matches played.
        """
        due = list(match_leases.due(self.engine))
        self.dice.shuffle(due)
        for match in due[:most]:
            self.play(match, fault=self.dice.random() < 0.1)
        self.ask()
        return len(due[:most])

    def ask(self) -> None:
        """Let the formats schedule their next matches, as the sweeper does."""
        self._asking.advance()

    def play_out(self, tournament: Tournament) -> Tournament:
        while self.find(tournament).state is TournamentState.RUNNING:
            self.wave(self.dice.randrange(1, 4))
        rater.advance(self.engine)
        return self.find(tournament)

    def find(self, tournament: Tournament) -> Tournament:
        return tournaments.find_tournament(self.engine, tournament.id)
