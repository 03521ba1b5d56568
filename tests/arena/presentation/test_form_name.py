"""Test form names. Games of the same form have one ranking."""

import pytest

from referee.games.contract import Option, OptionValue
from referee.games.registry import GAMES, form_of


def test_a_form_name_contains_options_that_differ_from_the_default() -> None:
    assert form_of("poke", 2, {"must_beat": True}) == "poke"
    assert form_of("poke", 2, {"must_beat": False}) == "poke-must_beat=false"
    assert form_of("saint_poker", 3, {}) == "saint_poker-3"


def test_a_form_name_contains_enabled_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {
        "greed": Option(False, "A switch."),
        "side": Option("right", "A word.", ("right", "left")),
        "pair": Option(1, "A number."),
    }
    monkeypatch.setattr(GAMES["saint_poker"], "options", options, raising=False)
    on: dict[str, OptionValue] = {"greed": True, "side": "left", "pair": 2}
    assert form_of("saint_poker", 2, on) == "saint_poker-2-greed-side=left-pair=2"
    assert form_of("saint_poker", 2, {**on, "greed": False, "side": "right"}) == (
        "saint_poker-2-pair=2"
    )
