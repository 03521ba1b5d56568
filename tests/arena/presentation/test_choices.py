"""The menu of a person: legal actions, the public history, and the rules that apply."""

from collections import Counter
from collections.abc import Iterable, Iterator

import pytest

from arena.presentation import shipped_docs
from referee.game_checks.random_games import walk
from referee.game_checks.tables import Table
from referee.games.contract import Action
from referee.games.game_packages import BUILT_IN
from referee.games.poke.actions import Answer, Draw
from referee.games.pokex.actions import Bid
from referee.games.pokino.actions import Run
from referee.games.pouku.actions import Discard, Give, GoOut
from referee.games.registry import find_game
from referee.games.saint_poker.actions import PickUp
from referee.games.shared.cards import Card
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
from tests.conformance.tables import every_table
from tests.conformance.walks import closely
from tests.examples import examples


def unordered(actions: Iterable[tuple[int, str]]) -> list[tuple[int, list[str]]]:
    """Return actions without the order of their cards, which these games ignore."""
    return [(seat, sorted(words.split())) for seat, words in actions]


@every_table
def test_the_history_lists_every_action_with_public_phrases(table: Table) -> None:
    """The suite of games compares the histories of all views of a position."""
    presentation = presentation_of(table.game.id)
    expected: list[tuple[int, str]] = []
    for step in walk(table, 0):
        history = [(each.seat, each.phrase) for each in presentation.history(step.state.public())]
        if table.game.id == "pokino":  # Its views do not contain the places of a run.
            assert [seat for seat, _ in history] == [seat for seat, _ in expected]
        else:
            assert unordered(history) == unordered(expected)
        expected += [
            (seat, presentation.public_phrase(action) or presentation.phrase(action))
            for seat, action in step.moves.items()
        ]


@every_table
def test_cited_rules_exist(table: Table) -> None:
    presentation, page = presentation_of(table.game.id), shipped_docs.rules(table.game.id)
    for step in closely(table, walk(table, 0))[:: examples(1, 3)]:
        for seat in step.moves:
            view = step.state.view(seat)
            numbers = presentation.rules_now(view)
            assert numbers
            assert presentation.task(view)
            assert all(f"## {number} " in page or f"**{number}**" in page for number in numbers)


@every_table
def test_the_default_reads_what_it_writes(table: Table) -> None:
    default = Presentation(table.game)
    if table.game.id == "pokino":
        return  # Squares are not texts or numbers.
    for step in closely(table, walk(table, 0))[:: examples(1, 8)]:
        for seat in step.moves:
            for action in step.state.legal(seat):
                assert default.parse(default.choice(action)) == action


@every_table
def test_the_elements_of_every_action_lie_on_the_table(table: Table) -> None:
    game, presentation = table.game, presentation_of(table.game.id)
    names = tuple(f"seat {seat}" for seat in range(table.seats))
    areas = presentation.control_areas
    for step in closely(table, walk(table, 0))[:: examples(4, 16)]:
        state = step.state
        for seat in step.moves:
            selections = [presentation.selection(action) for action in state.legal(seat)]
            elements = {pick.element for each in selections for pick in each.picks}
            shown = rendered(game, table.options, state.view(seat), seat, names, state.actors)
            marked = with_controls(shown, areas, seat, elements)
            assert sorted(controls_of(marked)) == sorted(elements)
            assert all(each.enough <= len(each.picks) for each in selections)
            assert offered_selections(selections, shown, areas, seat) == tuple(selections)
            buttons = (Selection(),) * len(selections)
            assert offered_selections(selections, shown, (), seat) == buttons


def test_runs_are_continued_square_by_square() -> None:
    """The listed runs are the oracle where all are listed."""
    game, presentation = find_game("pokino"), presentation_of("pokino")
    table = Table(game, 2, tuple(game.settle({}).items()))
    compared = 0
    for step in walk(table, 0):
        for seat in step.moves:
            legal = step.state.legal(seat)
            paths = {action.path for action in legal if isinstance(action, Run)}
            for path in ((), *paths) if legal.complete else ():
                picks = [str(square) for square in path]
                continued = tuple(presentation.continued(legal, picks))
                assert all(run in legal for run in continued)
                assert {run.path for run in continued if isinstance(run, Run)} == {
                    each
                    for each in paths
                    if each[: len(path)] == path and len(each) <= max(len(path) + 1, 2)
                }
                compared += len(continued)
    assert compared > 20


def test_poke_tells_why_a_card_cannot_be_played() -> None:
    game, presentation = find_game("poke"), presentation_of("poke")
    told = {False: set[str](), True: set[str]()}
    for step in walk(Table(game, 2, tuple(game.settle({}).items())), 0):
        for seat in step.moves:
            view, legal = step.state.view(seat), step.state.legal(seat)
            answers = [action for action in legal if isinstance(action, Answer)]
            if answers:
                playable = {card for answer in answers for card in answer.cards}
                told[playable < set(view.hand)].add(presentation.remark(view))
    assert len(told[True]) == 1
    assert any("must" in remark for remark in told[True])


@pytest.mark.parametrize("game_id", BUILT_IN)
def test_the_cards_that_a_seat_has_got_since_its_last_decision_are_marked(game_id: str) -> None:
    game = find_game(game_id)
    seats, options = game.seats[0], game.settle({})
    table = Table(game, seats, tuple(options.items()))
    names = tuple(f"seat {seat}" for seat in range(seats))
    earlier: dict[int, tuple[TableRendering, Counter[Card]]] = {}
    marked = 0
    for step in walk(table, 0):
        for seat in step.moves:
            view = step.state.view(seat)
            shown = rendered(game, options, view, seat, names, step.state.actors)
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
