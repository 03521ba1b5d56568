"""Test that the frames of a game reproduce each of its table renderings."""

from typing import Any

from arena.presentation.frames import GrowingTrickTable, TrackedArea, TrackedLayout, frame_sequence
from referee.game_checks.random_games import walk
from referee.game_checks.tables import Table as Setup
from referee.presentation.elements import Area, DominoLayout, Players, TableRendering, TrickTable
from referee.presentation.registry import presentation_of
from tests.conformance.tables import every_table
from tests.examples import examples


def renderings_of(setup: Setup) -> list[TableRendering]:
    names = tuple(f"bot{seat}" for seat in range(setup.seats))
    sides = setup.game.sides(setup.seats, setup.options)
    frames_seen = []
    for step in walk(setup, 0):
        state = step.state
        hands = {seat: state.view(seat) for seat in range(setup.seats)}
        seats = Players(names, sides, state.scores, state.actors)
        frames_seen.append(presentation_of(setup.game.id).render(state.public(), hands, seats))
    return frames_seen


def at(spans: Any, step: int) -> list[Any]:
    return [span for span in spans if span.first <= step <= span.last]


def check(part: TrackedArea | TrackedLayout, area: Area | None, step: int) -> None:
    if isinstance(part, TrackedLayout):
        assert isinstance(area, DominoLayout)
        assert {span.value for span in at(part.pieces, step)} == set(area.pieces)
        left, right, top, bottom = area.bounds
        assert part.bounds[0] <= left <= right <= part.bounds[1]
        assert part.bounds[2] <= top <= bottom <= part.bounds[3]
        return
    shown = [span.value for span in at(part.spans, step)]
    if not shown:
        assert area is None or (isinstance(area, TrickTable) and not area.heads)
        return
    (value,) = shown
    if not isinstance(value, GrowingTrickTable):
        assert value == area
        return
    assert isinstance(area, TrickTable)
    for (name, cells), (label, places) in zip(value.rows, area.rows, strict=True):
        assert name == label
        now = [[span.value for span in at(spans, step)] for spans in cells]
        assert now == [[cell] for cell in places] + [[]] * (len(cells) - len(places))
    assert [span.value for span in at(value.notes, step)] == [area.note]


@every_table
def test_frames_show_the_rendering_at_every_step(table: Setup) -> None:
    renderings = renderings_of(table)
    made = frame_sequence(renderings)
    assert made.steps == len(renderings)
    for step, rendering in [*enumerate(renderings)][:: examples(1, 3)]:
        (title,) = at(made.titles, step)
        assert (title.value.heading, title.value.facts) == (rendering.heading, rendering.facts)
        for place, seat in zip(made.places, rendering.seats, strict=True):
            (head,) = at(place.heads, step)
            facts = (seat.score, seat.is_to_act, seat.badges)
            assert (head.value.score, head.value.is_to_act, head.value.badges) == facts
        pairs = [
            ([part for zone in made.zones for part in zone], rendering.centre),
            (made.below, rendering.below),
            *((p.parts, s.areas) for p, s in zip(made.places, rendering.seats, strict=True)),
        ]
        for parts, areas in pairs:
            lying = {area.key: area for area in areas}
            for part in parts:
                check(part, lying.get(part.key), step)
            assert set(lying) <= {part.key for part in parts}
