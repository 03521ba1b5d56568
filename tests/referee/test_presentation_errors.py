"""Exceptions of a package's presentation are never charged to a bot."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pokearena.v1 import bot_pb2

from referee.games.game_packages import SETTING
from referee.presentation.question_text import PresentationFailed
from tests.game_package import installed_packages
from tests.referee.authors import Answer, Author, play
from tests.sample_games.installation import SAMPLES, install_package

folder = pytest.fixture(installed_packages)
Install = Callable[[Mapping[str, str]], None]
CLIP = "    clip = 3\n"
UNREADABLE = {
    CLIP: f"{CLIP}\n    def parse(self, text: str) -> None:\n        raise KeyError(text)\n"
}


@pytest.fixture
def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that installs High Card with changes."""

    def installed(changes: Mapping[str, str]) -> None:
        monkeypatch.setenv(SETTING, install_package(folder, SAMPLES / "high_card", changes))

    return installed


@pytest.mark.parametrize("condition", ["True", "public.played"])
def test_a_failure_to_write_a_question_ends_the_table_without_a_fault(
    install: Install, condition: str
) -> None:
    led = "        led = faces("
    install({led: f"        if {condition}:\n            raise KeyError\n{led}"})
    reported: list[Any] = []
    with pytest.raises(BaseExceptionGroup) as group:
        play([Author(with_text=True), Author()], game="high_card", report=reported.append)
    assert group.group_contains(PresentationFailed)
    assert reported == []


def test_the_text_of_a_listed_action_is_read_although_the_presentation_fails(
    install: Install,
) -> None:
    def answer(question: bot_pb2.ActRequest) -> Answer:
        _, _, listed = question.text.partition("LEGAL ACTIONS\n0: ")
        words = listed.splitlines()[0]
        return Answer(game=question.game, decision=question.decision, text=words)

    install(UNREADABLE)
    played = play([Author(answer, with_text=True), Author()], game="high_card")
    assert played.verdicts == [["finished", "finished"]]


def test_any_other_text_is_a_fault_although_the_presentation_fails(install: Install) -> None:
    def answer(question: bot_pb2.ActRequest) -> Answer:
        return Answer(game=question.game, decision=question.decision, text="play the moon")

    install(UNREADABLE)
    played = play([Author(answer, with_text=True), Author()], game="high_card")
    assert played.verdicts == [["protocol", "finished"]]
