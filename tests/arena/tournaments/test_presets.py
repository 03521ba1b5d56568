"""Presets: defaults of a tournament for slow bots and for language models."""

from typing import Any

import pytest

from arena.errors import InvalidSettings
from arena.store.match_settings import PRESETS, ClockClass
from arena.tournaments.tournament_request import TournamentRequest, request_of
from referee.games.registry import GAMES

BOTS = [f"sample:{name}" for name in ("greedy", "random", "meek", "bold", "strong", "careful")]


def requested(**values: Any) -> TournamentRequest:
    return request_of({"game": "poke", "bots": BOTS, **values})


@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_preset_of_models_is_short_and_corrects_in_every_game(game: str) -> None:
    plan = requested(game=game, preset="models")
    assert (plan.boards, plan.corrections) == (1, 2)
    assert plan.clock.clock_class is ClockClass.MODEL


def test_the_preset_of_slow_bots_is_of_the_class_slow() -> None:
    plan = requested(preset="slow")
    assert plan.ladder == "poke~slow"
    assert plan.boards == PRESETS["slow"]["boards"]


def test_given_values_override_those_of_a_preset_one_by_one() -> None:
    plan = requested(preset="models", boards=7, clock={"bank_ms": 5})
    assert (plan.boards, plan.corrections, plan.clock.bank_ms) == (7, 2, 5)
    assert plan.clock.allowance_ms == PRESETS["models"]["clock"]["allowance_ms"]


def test_an_unknown_preset_is_refused_at_its_key() -> None:
    with pytest.raises(InvalidSettings) as refused:
        requested(preset="model")
    assert refused.value.key == ("preset",)
