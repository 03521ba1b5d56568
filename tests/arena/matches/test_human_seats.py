"""People at a table, by the interface that a terminal or a page implements."""

import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random
from threading import Event

import pytest

from arena.bots.bot import Bot, with_unique_labels
from arena.bots.resolver import sample
from arena.matches import human_seats
from arena.matches.human_seats import PersonQuestion, QuestionWithdrawn
from arena.matches.private_referee import own_referee
from arena.matches.runner import play_match, record_text
from arena.matches.table import seated
from arena.ratings.closed_match import PlayedGame
from arena.store.match_settings import Clock
from arena.store.matches.spec import Entrant, MatchSpec
from arena.store.matches.table_plan import plan
from referee.games.contract import Action
from referee.games.game_packages import SETTING
from referee.games.registry import find_game
from referee.games.shared.dealing import commitment
from referee.presentation import text
from referee.record import read
from referee.replay import verify
from tests.arena.view_texts import texts_in
from tests.game_package import installed_packages
from tests.sample_games.installation import TIC_TAC_TOE, install_package

folder = pytest.fixture(installed_packages)
SEED = bytes(range(32))
SHOWN = re.compile(r"\b(?:[2-9TJQKA][CDHS]|X[12])\b|(?<![\d,-])\d{1,2}-\d{1,2}(?![\d,-])")
TABLES = {"poke": 2, "saint_poker": 4, "pokex": 2, "pouku": 3, "pokino": 3}
"""Number of people at a table of each game."""
LONG_GAMES = ("pokex", "pokino")


class RandomPerson:
    """Chooses at random, and collects the content of every question."""

    def __init__(self) -> None:
        self.shown: list[tuple[PersonQuestion, set[str]]] = []
        self._chance = Random(1)

    def ask(self, question: PersonQuestion) -> Action:
        lines = [*text.lines(question.rendering()), *question.choices()]
        lines += [action.phrase for action in question.history()]
        self.shown.append((question, set(SHOWN.findall("\n".join(lines)))))
        assert question.seconds_left is None
        return self._chance.choice(question.actions)

    def withdraw(self, question: PersonQuestion) -> None:
        pass


class IdlePerson:
    def __init__(self) -> None:
        self.withdrawn = Event()

    def ask(self, question: PersonQuestion) -> Action:
        self.withdrawn.wait()
        raise QuestionWithdrawn

    def withdraw(self, question: PersonQuestion) -> None:
        self.withdrawn.set()


@pytest.fixture(scope="module")
def referee() -> Iterator[str]:
    with own_referee() as address:
        yield address


def match(game: str, bots: tuple[Bot, ...], seats: int, tables: int | None = 1) -> MatchSpec:
    return MatchSpec(
        id="m-people",
        tournament=None,
        round=0,
        number=0,
        game=game,
        options=find_game(game).settle({}),
        seats=seats,
        boards=1,
        clock=Clock(allowance_ms=50, bank_ms=100),
        faults="strict",
        entrants=tuple(Entrant(bot.label, "", str(bot.folder or ""), {}) for bot in bots),
        commitment=commitment(SEED),
        seed=SEED,
        tables=tables,
    )


def played(
    spec: MatchSpec, bots: tuple[Bot, ...], person: human_seats.Person, referee: str
) -> list[PlayedGame]:
    games: list[PlayedGame] = []
    with human_seats.seated_people(spec, bots, person) as served:
        play_match(spec, referee, served, games.append)
    return games


@pytest.mark.parametrize(
    "game",
    [pytest.param(game, marks=[pytest.mark.long] * (game in LONG_GAMES)) for game in TABLES],
)
def test_people_play_a_valid_game_and_are_shown_nothing_that_their_view_lacks(
    game: str, referee: str
) -> None:
    bots = with_unique_labels(human_seats.person() for _ in range(TABLES[game]))
    person = RandomPerson()
    spec = match(game, bots, TABLES[game])
    (only,) = played(spec, bots, person, referee)
    assert not only.faulted
    assert verify(read(record_text(spec, {only.game: only.record}, SEED))) == []
    assert {question.seat for question, _ in person.shown} == set(range(TABLES[game]))
    for question, shown in person.shown:
        assert shown <= set(texts_in(asdict(question.view)))
        assert set(question.view.hand) <= shown


@pytest.mark.long
def test_people_play_a_game_whose_positions_cannot_be_made_from_views(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SETTING, install_package(folder, TIC_TAC_TOE))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    bots = with_unique_labels(human_seats.person() for _ in range(2))
    person = RandomPerson()
    with own_referee() as address:
        (only,) = played(match("tic_tac_toe", bots, 2), bots, person, address)
    assert not only.faulted
    for question, _ in person.shown:
        assert question.complete
        assert [question.parse(choice) for choice in question.choices()] == list(question.actions)


def test_a_question_is_withdrawn_when_the_thinking_time_is_used_up(referee: str) -> None:
    bots = with_unique_labels([human_seats.person(think_seconds=0), human_seats.person()])
    person = IdlePerson()
    (only,) = played(match("poke", bots, 2), bots, person, referee)
    assert person.withdrawn.wait(60)
    assert "timeout" in only.verdicts


def test_a_partner_plays_the_second_seat_of_a_side() -> None:
    greedy, meek = sample("greedy"), sample("meek")
    person = human_seats.with_partner(human_seats.person(), greedy)
    assert seated((person, meek), (0, 1, 0, 1)) == [person, meek, greedy, meek]
    names = human_seats.table_names((person, meek), (0, 1, 0, 1))
    assert names == ("human", "meek/2", "greedy", "meek/4")


@pytest.mark.long
def test_a_match_with_a_person_has_one_table_unless_all_seatings_are_requested() -> None:
    bots = (human_seats.person(), sample("meek"), sample("random"))
    (only,) = plan(match("saint_poker", bots, 3))
    assert only.seating == (0, 1, 2)
    every = plan(match("saint_poker", bots, 3, tables=None))
    assert [table.seating for table in every] == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    assert len({board.number for table in every for board in table.boards}) == 3
