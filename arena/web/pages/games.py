"""Pages of the games: all of them, and one with its lessons and the form that begins a match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from markupsafe import Markup

from arena.bots import resolver
from arena.presentation import glossary
from arena.presentation.frames import FrameSequence, frame_sequence
from arena.web.data.web_state import WebState
from arena.web.markdown_to_html import rendered
from arena.web.page import Page, PageRequest
from arena.web.pages.play import THINK_SECONDS, playable_bots, table_setup
from arena.web.pictures import replay_picture
from referee.games.registry import GAMES
from referee.presentation.contract import Presentation
from referee.presentation.elements import Players, TableRendering
from referee.presentation.lesson import NAMES, Lesson, LessonAnswer, lesson_position
from referee.presentation.registry import presentation_of


@dataclass(frozen=True, slots=True)
class ShownLesson:
    """A lesson with its position as its seat sees it."""

    lesson: Lesson
    frames: FrameSequence
    answers: tuple[LessonAnswer, ...]
    """The answers in alphabetical order, so that their order does not show the right one."""


def games_page(web: WebState, page_request: PageRequest) -> Page:
    every = list(GAMES.values())
    available = web.settings.seats_people
    forms = {game.id: _forms(web, game.id) for game in every}
    return Page(
        title="Games",
        template="games.html",
        model={
            "games": every,
            "forms": forms,
            "available": available,
            "about": presentation_of,
            "cover": game_picture,
            "symbols": replay_picture.symbols(),
        },
        data={
            "available": available,
            "games": [
                {
                    "game": game.id,
                    "title": game.title,
                    "summary": presentation_of(game.id).summary,
                    "seats": list(game.seats),
                    "options": {name: option.default for name, option in game.options.items()},
                }
                for game in every
            ],
        },
    )


def game_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the page of a game; raises PageNotFound or InvalidQuery."""
    setup = table_setup(page_request.path["game"], page_request.query)
    game = setup.rules
    presentation = presentation_of(game.id)
    available = web.settings.seats_people
    bots = playable_bots(web, game) if available else ()
    return Page(
        title=game.title,
        template="game.html",
        model={
            "setup": setup,
            "is_changed": bool(page_request.query),
            "presentation": presentation,
            "cover": game_picture(game.id),
            "symbols": replay_picture.symbols(),
            "lessons": shown_lessons(game.id),
            "in_short": rendered(presentation.short_rules, page_request.links).html,
            "terms": glossary.game_terms(game.id),
            "forms": _forms(web, game.id),
            "available": available,
            "bots": bots,
            "usual": resolver.usual_opponent(game.id),
            "think_seconds": THINK_SECONDS,
        },
        data={
            "game": game.id,
            "available": available,
            "seats": setup.seats,
            "entrants": setup.sides,
            "options": dict(setup.options),
            "bots": [name for name, _ in bots],
            "lessons": [_lesson_data(each.lesson) for each in shown_lessons(game.id)],
        },
        description=presentation.summary,
    )


def glossary_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the words of the arena and of all games."""
    groups = [("", "The arena", glossary.arena_terms())]
    groups += [(game.id, game.title, glossary.game_terms(game.id)) for game in GAMES.values()]
    return Page(
        title="Glossary",
        template="glossary.html",
        model={"groups": [group for group in groups if group[2]]},
        data={
            "terms": [
                {"game": game, "word": term.word, "meaning": term.meaning}
                for game, _, terms in groups
                for term in terms
            ]
        },
        topics=frozenset(),
        fresh=3600.0,
    )


@cache
def shown_lessons(game: str) -> tuple[ShownLesson, ...]:
    """Return the lessons of a game; their positions are played once."""
    presentation = presentation_of(game)
    return tuple(_shown(presentation, lesson) for lesson in presentation.lessons())


@cache
def game_picture(game: str) -> Markup:
    """Return the picture of a game: the position of its last lesson as SVG."""
    presentation = presentation_of(game)
    return replay_picture.inline_svg(_rendering(presentation, presentation.lessons()[-1]))


def _shown(presentation: Presentation, lesson: Lesson) -> ShownLesson:
    frames = frame_sequence([_rendering(presentation, lesson)])
    seat = lesson.seat
    places = (*frames.places[seat:], *frames.places[:seat])
    answers = sorted(lesson.answers, key=lambda answer: answer.words or answer.action)
    return ShownLesson(lesson, replace(frames, places=places), tuple(answers))


def _rendering(presentation: Presentation, lesson: Lesson) -> TableRendering:
    """Return the position of a lesson as its seat sees it."""
    state = lesson_position(lesson, presentation)
    number, seat = len(state.scores), lesson.seat
    options = presentation.game.settle(lesson.options)
    players = Players(
        names=tuple(NAMES[(each - seat) % number] for each in range(number)),
        sides=presentation.game.sides(number, options),
        scores=state.scores,
        actors=(seat,),
    )
    return presentation.render(state.public(), {seat: state.view(seat)}, players)


def _lesson_data(lesson: Lesson) -> Mapping[str, Any]:
    return {
        "title": lesson.title,
        "question": lesson.question,
        "rule": lesson.rule,
        "answers": [
            {"action": answer.action, "right": answer.is_right, "why": answer.why}
            for answer in lesson.answers
        ],
    }


def _forms(web: WebState, game: str) -> Sequence[str]:
    """Return the ladders of a game."""
    return [name for name, ladder in web.snapshot.ladders.items() if ladder.scope.game == game]
