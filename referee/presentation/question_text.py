"""Write questions as plain text, for language models, and read answers in words.

Everything follows from the view of one seat. Seats have numbers and no names, and notes of bots are
left out, so no text of an opponent reaches a bot this way.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from referee.games.contract import Action, Game, Legal, Options, View
from referee.games.shared.dealing import SEED_BYTES, Seeded
from referee.presentation.elements import Players, TableRendering
from referee.presentation.registry import presentation_of
from referee.presentation.text import lines

TEXT_VERSION: Final = 1
"""Version of the wording. Increase it with any change of a golden text."""
ANSWER_CHARACTERS: Final = 400
"""Maximum length of an answer in words; the longest action of a game is shorter."""
_WIDTH: Final = 100
_DIGITS: Final = 6
"""Maximum number of digits of the number of a listed action."""
ALL_LISTED: Final = "These are all legal actions."
UNLISTED: Final = (
    "Not all legal actions are listed. Any other one can be written in full, in the same form."
)
_ANSWER: Final = "Answer with the number of a legal action, or with the action as it is written."


class PresentationFailed(RuntimeError):
    """The presentation of a game raised an exception. The message is a clause."""


def rendered(
    game: Game,
    options: Options,
    view: View,
    seat: int | None,
    names: Sequence[str],
    actors: Sequence[int],
) -> TableRendering:
    """Return a position as a seat sees it; with `seat` None, as the public sees it.

    Raises:
        ValueError: the view is one of another number of seats.
    """
    presentation = presentation_of(game.id)
    scores = presentation.scores(view, len(names))
    if len(scores) != len(names):
        raise ValueError("it is a position of another number of seats")
    players = Players(tuple(names), game.sides(len(names), options), scores, tuple(actors))
    return presentation.render(view, {} if seat is None else {seat: view}, players)


def question_text(
    game: Game,
    options: Options,
    seats: int,
    view: View,
    seat: int,
    actors: Sequence[int],
    legal: Legal,
) -> str:
    """Return a question as plain text: short rules, position, history and legal actions.

    Args:
        game: the game.
        options: a value for every option of the game.
        seats: the number of seats.
        view: the view of the seat.
        seat: the seat that is asked.
        actors: the seats that act now.
        legal: its legal actions, numbered in the text in their order.

    Raises:
        PresentationFailed: the presentation of the game raised an exception.
    """
    names = [f"seat {number}" for number in range(seats)]
    try:
        position = lines(rendered(game, options, view, seat, names, actors), _WIDTH)
        sections = (
            ("", list(_heading(game, options, seats, seat))),
            ("RULES IN SHORT", [presentation_of(game.id).short_rules]),
            ("POSITION", position),
            ("HISTORY", _history(game, view, names)),
            ("LEGAL ACTIONS", list(_legal(game, legal))),
            ("ANSWER", [_ANSWER]),
        )
    except Exception as error:  # the code of a package may raise anything
        raise PresentationFailed(
            f"the presentation of {game.id} cannot write a question as text: "
            f"{type(error).__name__}: {error}"
        ) from error
    return "\n\n".join(
        "\n".join([title, *body] if title else body) for title, body in sections if any(body)
    )


def turn_of_view(
    game: Game, options: Options, view: View, seat: int, listed: Legal
) -> tuple[tuple[int, ...], Legal]:
    """Return the acting seats and the legal actions of a question that is known by its view.

    A view determines both. Without positions of views, these are the seat itself and the listed
    actions.
    """
    if not game.redeals:
        return (seat,), listed
    state = game.from_view(view, seat, options, Seeded(bytes(SEED_BYTES)))
    return state.actors, state.legal(seat)


def question_text_of_view(
    game: Game, options: Options, seats: int, view: View, seat: int, listed: Legal
) -> str:
    """Return the text of a question that is known by its view and its listed actions.

    It equals that of :func:`question_text`, except for the mark of other seats that act at the same
    time in a game without positions of views.
    """
    actors, legal = turn_of_view(game, options, view, seat, listed)
    return question_text(game, options, seats, view, seat, actors, legal)


def parse_answer(game: Game, text: str, legal: Legal) -> Action | None:
    """Return the action of an answer in words; None if it names no action.

    Args:
        game: the game.
        text: the number of a listed action, or an action in the form of the list. At most
            `ANSWER_CHARACTERS` are read.
        legal: the legal actions of the question. The returned action need not be one of them.
    """
    text = text.strip()
    if len(text) > ANSWER_CHARACTERS:
        return None
    if text.isdecimal() and text.isascii() and len(text) <= _DIGITS:
        return next(islice(legal, int(text), None), None)
    presentation = presentation_of(game.id)
    try:
        return presentation.parse(text)
    except Exception:
        # A bot can send any text: an exception must neither end the table nor lose a listed action.
        return next((action for action in legal if presentation.choice(action) == text), None)


def _heading(game: Game, options: Options, seats: int, seat: int) -> Iterator[str]:
    yield f"{game.title}, {seats} seats. You are seat {seat}. (Text version {TEXT_VERSION})"
    sides = game.sides(seats, options)
    partners = [other for other in range(seats) if sides[other] == sides[seat] and other != seat]
    for partner in partners:
        yield f"Your partner is seat {partner}: you score together."
    for name, value in options.items():
        yield f"Option {name} = {str(value).lower()}. {game.options[name].meaning}"


def _history(game: Game, view: View, names: Sequence[str]) -> list[str]:
    """Return the public actions of the whole game, the first one first."""
    actions = presentation_of(game.id).history(view)
    return [f"{names[action.seat]} {action.phrase}" for action in actions]


def _legal(game: Game, legal: Legal) -> Iterator[str]:
    choice = presentation_of(game.id).choice
    for number, action in enumerate(legal):
        yield f"{number}: {choice(action)}"
    yield ALL_LISTED if legal.complete else UNLISTED
