"""Selection of actions on the table: which elements of a rendering are controls, and of what.

A person selects an action by clicking elements of the table. The presentation of a game names the
elements of each action; a page needs to know nothing else of the game.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace

from referee.games.contract import Action
from referee.games.shared.cards import DECK_WITH_JOKERS
from referee.games.shared.dominoes import NUMBERS
from referee.presentation.elements import (
    NEW,
    Area,
    CardGroup,
    DominoGroup,
    DominoLayout,
    Group,
    OpenCards,
    PrivateCards,
    SeatRendering,
    TableRendering,
)

_NAMES = frozenset((*DECK_WITH_JOKERS, *NUMBERS))
MARGIN = 2
"""Squares around a layout on which a domino can be laid."""


@dataclass(frozen=True, slots=True)
class Pick:
    """An element of the table that takes part in an action."""

    element: str
    """Name of a card ("QC"), a domino ("5-9") or a square of a layout ("3,-2")."""
    role: str = ""
    """What the action does with it, if an element can have several uses: "keep"."""

    def __str__(self) -> str:
        return f"{self.role}:{self.element}" if self.role else self.element


@dataclass(frozen=True, slots=True)
class Selection:
    """The elements by which a person selects an action; none for an action without elements."""

    picks: tuple[Pick, ...] = ()
    ordered: bool = False
    """Whether the elements are selected in this order."""
    enough: int = 0
    """Number of elements after which the action is proposed; 0 for all of them."""


def selection_by_fields(action: Action) -> Selection:
    """Return the cards and dominoes in the fields of an action.

    The names of the fields are the roles, except that of the first field.
    """
    return Selection(tuple(_picks(action)))


def _picks(action: Action) -> Iterator[Pick]:
    for number, field in enumerate(fields(action)):
        value = getattr(action, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, str) and each in _NAMES:
                yield Pick(each, field.name if number else "")


def with_controls(
    rendering: TableRendering, areas: Collection[str], seat: int, elements: Collection[str]
) -> TableRendering:
    """Mark the elements of a rendering that select actions.

    Args:
        rendering: the position as the seat sees it.
        areas: keys of the areas whose elements can be selected.
        seat: the seat that selects.
        elements: names of the elements that take part in legal actions; empty between its turns.
    """

    def marked(area: Area) -> Area:
        return _marked(area, seat, elements) if area.key in areas else area

    def marked_seat(place: SeatRendering) -> SeatRendering:
        return replace(place, areas=tuple(map(marked, place.areas)))

    return replace(
        rendering,
        seats=tuple(map(marked_seat, rendering.seats)),
        centre=tuple(map(marked, rendering.centre)),
    )


def with_new(rendering: TableRendering, before: TableRendering, seat: int) -> TableRendering:
    """Mark what a seat has got since an earlier position of the same deal."""
    held = {
        area.key: area.opened
        for area in before.seats[seat].areas
        if isinstance(area, PrivateCards) and before.chapter == rendering.chapter
    }

    def marked(area: Area) -> Area:
        old = held.get(area.key)
        if isinstance(area, PrivateCards) and area.opened is not None and old is not None:
            return replace(area, opened=_with_new(area.opened, old))
        return area

    seats = list(rendering.seats)
    seats[seat] = replace(seats[seat], areas=tuple(map(marked, seats[seat].areas)))
    return replace(rendering, seats=tuple(seats))


def _with_new(group: Group, old: Group) -> Group:
    match group, old:
        case CardGroup(), CardGroup():
            held = {face.card for face in old.faces}
            faces = (
                face if face.card in held else replace(face, marks=(*face.marks, NEW))
                for face in group.faces
            )
            return replace(group, faces=tuple(faces))
        case DominoGroup(), DominoGroup():
            return replace(group, new=tuple(tile for tile in group.tiles if tile not in old.tiles))
    return group


def offered_selections(
    selections: Sequence[Selection], rendering: TableRendering, areas: Collection[str], seat: int
) -> tuple[Selection, ...]:
    """Return the selections, without elements for each action whose elements the table lacks.

    The arguments are those of :func:`with_controls`.
    """
    elements = {pick.element for each in selections for pick in each.picks}
    marked = with_controls(rendering, areas, seat, elements)
    areas_of_seats = (area for place in marked.seats for area in place.areas)
    offered = {name for area in (*marked.centre, *areas_of_seats) for name in _controls(area)}
    return tuple(
        each if all(pick.element in offered for pick in each.picks) else Selection()
        for each in selections
    )


def _controls(area: Area) -> Iterator[str]:
    match area:
        case OpenCards(held=group) | PrivateCards(opened=group) if group is not None:
            match group:
                case CardGroup(faces=faces):
                    yield from (face.card for face in faces if face.is_control)
                case DominoGroup(controls=tiles):
                    yield from tiles
        case DominoLayout(squares=squares):
            yield from (f"{x},{y}" for x, y in squares)


def _marked(area: Area, seat: int, elements: Collection[str]) -> Area:
    match area:
        case OpenCards(held=held):
            return replace(area, held=_marked_group(held, elements))
        case PrivateCards(opened=opened) if area.seat == seat and opened is not None:
            return replace(area, opened=_marked_group(opened, elements))
        case DominoLayout(bounds=(left, right, top, bottom)):
            # The bounds are the same between the turns, so the layout keeps its scale.
            bounds = (left - MARGIN, right + MARGIN, top - MARGIN, bottom + MARGIN)
            return replace(area, bounds=bounds, squares=tuple(sorted(_squares(elements))))
    return area


def _marked_group(group: Group, elements: Collection[str]) -> Group:
    match group:
        case CardGroup(faces=faces):
            return replace(
                group,
                faces=tuple(replace(face, is_control=face.card in elements) for face in faces),
            )
        case DominoGroup(tiles=tiles):
            return replace(group, controls=tuple(tile for tile in tiles if tile in elements))


def _squares(elements: Collection[str]) -> Iterator[tuple[int, int]]:
    for element in elements:
        x, comma, y = element.partition(",")
        if comma:
            yield int(x), int(y)
