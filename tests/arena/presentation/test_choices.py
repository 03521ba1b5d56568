"""The menu of a person: legal actions, the public history, and the rules that apply."""

from collections.abc import Iterable, Iterator

import pytest

from arena.presentation import shipped_docs
from referee.game_checks.random_games import walk
from referee.game_checks.tables import Table
from referee.games.contract import Action
from referee.games.poke.actions import Draw
from referee.games.pokex.actions import Bid
from referee.games.pouku.actions import Discard, Give, GoOut
from referee.games.saint_poker.actions import PickUp
from referee.games.shared.cards import Card
from referee.presentation.contract import Presentation
from referee.presentation.elements import (
    CardGroup,
    DominoGroup,
    DominoLayout,
    OpenCards,
    PrivateCards,
    TableRendering,
)
from referee.presentation.question_text import rendered
from referee.presentation.registry import presentation_of
from referee.presentation.selection import Selection, offered_selections, with_controls
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
