"""Lessons: positions of a game with a question, its answers and the rule that decides."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from typing import Protocol

from referee.games.contract import Action, Game, OptionValue, State
from referee.games.shared.dealing import SEED_BYTES, Arranged, Chance, Seeded

NAMES = ("Kim (you)", "Ann", "Ben", "Cem", "Dan", "Eve")
"""Names of the players; the first is the seat of the lesson, then in the order of seats."""
LESSONS = 5
"""Number of lessons of a game."""
_ANSWERS = 4
_EXAMPLE_STEPS = 60


class ActionTexts(Protocol):
    """The part of a presentation that names actions."""

    game: Game

    def choice(self, action: Action) -> str: ...
    def parse(self, text: str) -> Action | None: ...
    def phrase(self, action: Action) -> str: ...


@dataclass(frozen=True, slots=True)
class LessonAnswer:
    """A legal action of the position, as `Presentation.choice` writes it."""

    action: str
    why: str
    """The explanation that appears when it is chosen."""
    is_right: bool | None = False
    """None if the question has no right answer."""
    words: str = ""
    """The action as a newcomer reads it; empty: as `Presentation.choice` writes it."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A position that the rules reach, and a question to the seat to act.

    The cards follow from a chance source, in which only those that matter are given.
    """

    title: str
    question: str
    answers: tuple[LessonAnswer, ...]
    rule: str = ""
    """Number of the rule that decides ("P-3.4"); empty if the rules have no numbers."""
    seats: int | None = None
    """None: the default of the game."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    luck: Chance = field(default_factory=Arranged)
    turns: tuple[str, ...] = ()
    """The choices before the position; " / " separates those of simultaneous seats."""
    seat: int = 0
    """The seat that answers the question."""


def lesson_position(lesson: Lesson, texts: ActionTexts) -> State:
    """Return the position of a lesson, played with the checks of the rules.

    Raises:
        SetupError: the game cannot start with its seats, options or chance.
        IllegalAction: a turn is not legal, or not of the seats to act.
    """
    state = texts.game.start(lesson.luck, lesson.seats, lesson.options)
    for turn in lesson.turns:
        actions = map(texts.parse, turn.split(" / "))
        state = state.play(dict(zip(state.actors, actions, strict=True)))
    return state


def example_lessons(texts: ActionTexts) -> tuple[Lesson, ...]:
    """Return lessons from a game in which all seats choose at random.

    They ask nothing: they show what is legal, and what each action does.
    """
    steps = list(islice(_example_game(texts), _EXAMPLE_STEPS))
    every = max(len(steps) // LESSONS, 1)
    return tuple(_example(texts, *step) for step in steps[::every][:LESSONS])


def _example_game(texts: ActionTexts) -> Iterator[tuple[State, tuple[str, ...]]]:
    """Yield the positions of the game with the turns before them."""
    chance = Random(0)
    state = texts.game.start(_example_luck())
    turns: tuple[str, ...] = ()
    while state.actors:
        yield state, turns
        moves: dict[int, Action] = {seat: state.legal(seat).any(chance) for seat in state.actors}
        turns = (*turns, " / ".join(map(texts.choice, moves.values())))
        state = state.after(moves)


def _example_luck() -> Chance:
    return Seeded(bytes(SEED_BYTES))


def _example(texts: ActionTexts, state: State, turns: tuple[str, ...]) -> Lesson:
    seat = state.actors[0]
    legal = list(islice(state.legal(seat), _ANSWERS))
    return Lesson(
        title=f"Decision {len(turns) + 1}",
        question="Your turn: these are legal actions. Choose one to see what it does.",
        answers=tuple(_shown(texts, action) for action in legal),
        luck=_example_luck(),
        turns=turns,
        seat=seat,
    )


def _shown(texts: ActionTexts, action: Action) -> LessonAnswer:
    return LessonAnswer(texts.choice(action), f"Legal: you {texts.phrase(action)}.", None)
