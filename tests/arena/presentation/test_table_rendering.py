"""Test that the rendering of a position shows exactly the cards that its viewers may see."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from referee.game_checks.random_games import Step, walk
from referee.game_checks.tables import Table as Setup
from referee.games.contract import State
from referee.games.shared.dealing import Seeded
from referee.presentation.elements import (
    Area,
    CardGroup,
    DominoGroup,
    Players,
    PrivateCards,
    TableRendering,
)
from referee.presentation.registry import presentation_of
from tests.conformance.tables import every_table
from tests.conformance.walks import closely
from tests.examples import examples


def table_of(setup: Setup, state: State) -> Players:
    names = tuple(f"bot{seat}" for seat in range(setup.seats))
    return Players(names, setup.game.sides(setup.seats, setup.options), state.scores, state.actors)


def rendered(setup: Setup, state: State, eyes: Collection[int]) -> TableRendering:
    hands = {seat: state.view(seat) for seat in eyes}
    return presentation_of(setup.game.id).render(state.public(), hands, table_of(setup, state))


def steps(setup: Setup) -> Sequence[Step]:
    return closely(setup, walk(setup, 0))[:: examples(1, 4)]


def with_eyes(rendering: TableRendering, eyes: Collection[int]) -> TableRendering:
    """Close the hands of all seats that are not in `eyes`, as a page does."""

    def closed(area: Area) -> Area:
        if isinstance(area, PrivateCards) and area.seat not in eyes:
            return replace(area, opened=None)
        return area

    return replace(
        rendering,
        seats=tuple(
            replace(seat, areas=tuple(map(closed, seat.areas))) for seat in rendering.seats
        ),
        centre=tuple(map(closed, rendering.centre)),
        below=tuple(map(closed, rendering.below)),
    )


def secrets(rendering: TableRendering, key: str) -> Iterator[PrivateCards]:
    for seat in rendering.seats:
        for area in seat.areas:
            if isinstance(area, PrivateCards) and area.key == key:
                yield area


def cards_in(part: Any) -> Iterator[str]:
    """Yield every card that is face up in a part of a rendering."""
    if isinstance(part, CardGroup):
        yield from (face.card for face in part.faces)
    elif isinstance(part, (tuple, list)):
        for element in part:
            yield from cards_in(element)
    elif is_dataclass(part):
        for field in fields(part):
            yield from cards_in(getattr(part, field.name))


@every_table
def test_hiding_cards_of_an_open_rendering_gives_the_rendering_of_a_seat(table: Setup) -> None:
    for step in steps(table):
        whole = rendered(table, step.state, range(table.seats))
        for seat in range(table.seats):
            assert with_eyes(whole, {seat}) == rendered(table, step.state, {seat})
        assert with_eyes(whole, ()) == rendered(table, step.state, ())


@every_table
def test_hidden_information_does_not_change_the_rendering_of_a_viewer(table: Setup) -> None:
    changed = 0
    for number, step in enumerate(steps(table)):
        luck = Seeded(number.to_bytes(32, "big"))
        everybody = range(table.seats)
        for viewer in (None, *everybody):
            eyes = () if viewer is None else (viewer,)
            again = step.state.redeal(viewer, luck)
            assert rendered(table, again, eyes) == rendered(table, step.state, eyes)
            changed += rendered(table, again, everybody) != rendered(table, step.state, everybody)
    assert changed, "nothing was dealt again"


@every_table
def test_an_open_seat_shows_its_cards_and_a_closed_one_their_backs(
    table: Setup,
) -> None:
    for step in steps(table):
        if not step.moves:
            continue
        rendering = rendered(table, step.state, range(table.seats))
        for secret in secrets(rendering, "hand"):
            hand = step.state.view(secret.seat).hand
            assert isinstance(secret.opened, CardGroup)
            assert isinstance(secret.closed, CardGroup)
            assert [face.card for face in secret.opened.faces] == list(hand)
            assert len(secret.closed.faces) + secret.closed.backs == len(hand)
            assert {face.card for face in secret.closed.faces} <= set(hand)


@every_table
def test_acting_seats_are_marked(table: Setup) -> None:
    for step in steps(table):
        rendering = rendered(table, step.state, ())
        assert tuple(s.number for s in rendering.seats if s.is_to_act) == step.state.actors
        assert tuple(s.score for s in rendering.seats) == step.state.scores


@every_table
def test_a_spectator_sees_no_face_down_card(table: Setup) -> None:
    hidden = 0
    for step in steps(table):
        if not step.moves:
            continue
        everybody = range(table.seats)
        whole = rendered(table, step.state, everybody)
        for seat in everybody:
            (hand,) = (secret for secret in secrets(whole, "hand") if secret.seat == seat)
            known = set(cards_in(hand.closed))
            opened_cards = set(cards_in(hand.opened)) - known
            drawn = set(cards_in(current(rendered(table, step.state, ()))))
            assert not opened_cards & drawn
            hidden += len(opened_cards)
    assert hidden


def current(rendering: TableRendering) -> list[Any]:
    """Return the areas of the current deal, without those of the previous one."""
    areas = [area for seat in rendering.seats for area in seat.areas]
    return [*areas, *(area for area in rendering.centre if area.key != "ended")]


@every_table
def test_dominoes_are_visible_only_to_their_owner(table: Setup) -> None:
    for step in steps(table):
        for secret in secrets(rendered(table, step.state, range(table.seats)), "dominoes"):
            assert isinstance(secret.opened, DominoGroup)
            assert isinstance(secret.closed, DominoGroup)
            assert secret.opened.tiles == step.state.view(secret.seat).dominoes
            assert (secret.closed.tiles, secret.closed.backs) == ((), len(secret.opened.tiles))
