"""The menu of a person: legal actions, the public history, and the rules that apply."""

from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random

import pytest

from arena.presentation import shipped_docs
from referee.games.contract import Action, Game, State
from referee.games.game_packages import BUILT_IN
from referee.games.poke.actions import Draw
from referee.games.pokex.actions import Bid
from referee.games.pouku.actions import Discard, Give, GoOut
from referee.games.registry import GAMES, find_game
from referee.games.saint_poker.actions import PickUp
from referee.games.shared.cards import Card
from referee.games.shared.dealing import SEED_BYTES, Seeded
from referee.presentation.contract import Presentation
from referee.presentation.elements import (
    NEW,
    CardGroup,
    DominoGroup,
    DominoLayout,
    FaceUpCard,
    OpenCards,
    PrivateCards,
    TableRendering,
)
from referee.presentation.question_text import rendered
from referee.presentation.registry import presentation_of
from referee.presentation.selection import Selection, offered_selections, with_controls, with_new
from tests.examples import examples


def forms() -> Iterator[tuple[str, int, dict[str, bool]]]:
    """Yield every game with every number of seats, with each switch turned once."""
    for game in GAMES.values():
        switches = [n for n, option in game.options.items() if isinstance(option.default, bool)]
        turned: list[dict[str, bool]] = [
            {},
            *({name: not game.options[name].default} for name in switches),
        ]
        for seats in game.seats:
            for options in turned:
                if game.allows(seats, game.settle(options)):
                    yield game.id, seats, options


FORMS = [
    # The quick suite tries the smallest table of each game, and all switches of Pokino for two.
    pytest.param(*form, marks=() if form[1] == find_game(form[0]).seats[0] else pytest.mark.long)
    for form in forms()
]


def unordered(actions: Iterable[tuple[int, str]]) -> list[tuple[int, list[str]]]:
    """Return actions without the order of their cards, which these games ignore."""
    return [(seat, sorted(words.split())) for seat, words in actions]


def played(
    game: Game, seats: int, options: dict[str, bool]
) -> Iterator[tuple[State, dict[int, Action]]]:
    """Yield the positions of a random game with the actions made in them."""
    state = game.start(Seeded(bytes(SEED_BYTES)), seats, options)
    chance = Random(f"{game.id} {seats} {options}")
    while state.actors:
        moves = {seat: state.legal(seat).any(chance) for seat in state.actors}
        yield state, moves
        state = state.after(moves)
    yield state, {}


@pytest.mark.parametrize(("game_id", "seats", "options"), FORMS)
def test_the_history_lists_every_action_with_public_phrases(
    game_id: str, seats: int, options: dict[str, bool]
) -> None:
    presentation = presentation_of(game_id)
    expected: list[tuple[int, str]] = []
    pending: list[tuple[int, str]] = []
    for state, moves in played(find_game(game_id), seats, options):
        expected += pending
        history = [(each.seat, each.phrase) for each in presentation.history(state.public())]
        if game_id == "pokino":  # Its views do not contain the places of a run.
            assert [seat for seat, _ in history] == [seat for seat, _ in expected]
        else:
            assert unordered(history) == unordered(expected)
        for view in map(state.view, range(seats)):
            assert history == [(each.seat, each.phrase) for each in presentation.history(view)]
        pending = [
            (seat, presentation.public_phrase(action) or presentation.phrase(action))
            for seat, action in moves.items()
        ]


@pytest.mark.parametrize(("game_id", "seats", "options"), FORMS)
def test_cited_rules_exist_and_menu_lines_are_distinct(
    game_id: str, seats: int, options: dict[str, bool]
) -> None:
    presentation, page = presentation_of(game_id), shipped_docs.rules(game_id)
    for number, (state, moves) in enumerate(played(find_game(game_id), seats, options)):
        for seat in moves if number % examples(1, 3) == 0 else ():
            numbers = presentation.rules_now(state.view(seat))
            assert numbers
            assert presentation.task(state.view(seat))
            assert all(f"## {number} " in page or f"**{number}**" in page for number in numbers)
            legal = list(state.legal(seat))
            assert len({presentation.choice(action) for action in legal}) == len(legal)


@pytest.mark.parametrize(("game_id", "seats", "options"), FORMS)
def test_every_menu_line_is_read_as_its_own_action(
    game_id: str, seats: int, options: dict[str, bool]
) -> None:
    presentation, default = presentation_of(game_id), Presentation(find_game(game_id))
    for number, (state, moves) in enumerate(played(find_game(game_id), seats, options)):
        for seat in moves if number % examples(1, 8) == 0 else ():
            for action in state.legal(seat):
                assert presentation.parse(presentation.choice(action)) == action
                if game_id != "pokino":  # Squares are not texts or numbers.
                    assert default.parse(default.choice(action)) == action


@pytest.mark.parametrize(("game_id", "seats", "options"), FORMS)
def test_the_elements_of_every_action_lie_on_the_table(
    game_id: str, seats: int, options: dict[str, bool]
) -> None:
    game, presentation = find_game(game_id), presentation_of(game_id)
    for number, (state, moves) in enumerate(played(game, seats, options)):
        for seat in moves if number % examples(4, 16) == 0 else ():
            selections = [presentation.selection(action) for action in state.legal(seat)]
            elements = {pick.element for each in selections for pick in each.picks}
            names = tuple(f"seat {seat}" for seat in range(seats))
            shown = rendered(
                game, game.settle(options), state.view(seat), seat, names, state.actors
            )
            marked = with_controls(shown, presentation.control_areas, seat, elements)
            assert sorted(controls_of(marked)) == sorted(elements)
            assert all(each.enough <= len(each.picks) for each in selections)
            areas = presentation.control_areas
            assert offered_selections(selections, shown, areas, seat) == tuple(selections)
            buttons = (Selection(),) * len(selections)
            assert offered_selections(selections, shown, (), seat) == buttons


@pytest.mark.parametrize("game_id", BUILT_IN)
def test_the_cards_that_a_seat_has_got_since_its_last_decision_are_marked(game_id: str) -> None:
    game = find_game(game_id)
    seats, options = game.seats[0], game.settle({})
    names = tuple(f"seat {seat}" for seat in range(seats))
    earlier: dict[int, tuple[TableRendering, Counter[Card]]] = {}
    marked = 0
    for state, moves in played(game, seats, {}):
        for seat in moves:
            view = state.view(seat)
            shown = rendered(game, options, view, seat, names, state.actors)
            before, held = earlier.get(seat, (shown, Counter(view.hand)))
            got = Counter(view.hand) - held if before.chapter == shown.chapter else Counter()
            faces = hand_of(with_new(shown, before, seat), seat)
            assert Counter(face.card for face in faces if NEW in face.marks) == got
            marked += got.total()
            earlier[seat] = shown, Counter(view.hand)
    # In Pokex a hand only becomes smaller during a deal.
    assert (marked > 0) == (game_id != "pokex")


def hand_of(rendering: TableRendering, seat: int) -> tuple[FaceUpCard, ...]:
    (hand,) = [area for area in rendering.seats[seat].areas if area.key == "hand"]
    assert isinstance(hand, PrivateCards)
    assert isinstance(hand.opened, CardGroup)
    return hand.opened.faces


def controls_of(rendering: TableRendering) -> Iterator[str]:
    """Yield the names of the elements that select actions, one for each time they are shown."""
    for area in (*rendering.centre, *(area for seat in rendering.seats for area in seat.areas)):
        match area:
            case (
                OpenCards(held=CardGroup(faces=faces)) | PrivateCards(opened=CardGroup(faces=faces))
            ):
                yield from (face.card for face in faces if face.is_control)
            case PrivateCards(opened=DominoGroup(controls=controls)):
                yield from controls
            case DominoLayout(squares=squares):
                yield from (f"{x},{y}" for x, y in squares)


@pytest.mark.parametrize(
    ("game_id", "text", "action"),
    [
        ("pouku", "DISCARD jd KEEP js jc", Discard(Card("JD"), (Card("JS"), Card("JC")))),
        ("pouku", "give 2c", Give(Card("2C"))),
        ("pouku", "go out", GoOut()),
        ("pokex", "bid 3", Bid(3)),
        ("poke", "draw", Draw(())),
        ("saint_poker", "pick up th", PickUp(Card("TH"))),
    ],
)
def test_a_typed_action_may_be_unlisted_and_in_lower_case(
    game_id: str, text: str, action: Action
) -> None:
    assert presentation_of(game_id).parse(text) == action


@pytest.mark.parametrize(
    "text", ["", "discard", "discard JD keep", "discard JD QD", "go", "go out now", "bid 3"]
)
def test_text_that_is_not_a_pouku_action_is_refused(text: str) -> None:
    assert presentation_of("pouku").parse(text) is None


@pytest.mark.parametrize(
    "text", ["", "run", "run 3C", "run 3C 0,0 4D", "run ZZ 0,0", "domino 3-99 0,0 up", "lay 3-4"]
)
def test_text_that_is_not_a_pokino_action_is_refused(text: str) -> None:
    assert presentation_of("pokino").parse(text) is None
