"""Render scenes as lines of text for terminals."""

from collections.abc import Iterator

from arena.presentation.elements import (
    Area,
    Board,
    Cards,
    Held,
    Lines,
    Pad,
    Row,
    Scene,
    Seat,
    Secret,
    Sheet,
)

BACK = "▒▒"


def lines(scene: Scene) -> tuple[str, ...]:
    """Return the scene as lines; cards as two letters, face-down cards as a pattern."""
    return tuple(line.rstrip() for line in _lines(scene))


def _lines(scene: Scene) -> Iterator[str]:
    yield scene.heading
    yield from (f"  {fact}" for fact in scene.facts)
    for area in scene.centre:
        yield from _area(area, "  ")
    for seat in scene.seats:
        yield _head(seat)
        for area in seat.areas:
            yield from _area(area, "    ")
    for area in scene.below:
        yield from _area(area, "  ")


def _head(seat: Seat) -> str:
    badges = "".join(f" · {badge.text}" for badge in seat.badges)
    return f"{'>' if seat.acts else ' '} {seat.name} · {seat.score}{badges}"


def _area(area: Area, indent: str) -> Iterator[str]:
    match area:
        case Row(label=label, held=held):
            yield f"{indent}{_labelled(label, _held(held))}"
        case Secret(label=label, opened=opened, closed=closed):
            yield f"{indent}{_labelled(label, _held(opened or closed))}"
        case Lines(label=label, rows=rows, note=note):
            yield f"{indent}{_labelled(label, note)}"
            for name, cards in rows:
                yield f"{indent}  {_labelled(name, _held(cards))}"
        case Sheet(label=label, rows=sheet):
            yield f"{indent}{label}"
            for name, cells in sheet:
                told = " | ".join(f"{_held(c.cards)}{'*' * c.won}" for c in cells)
                yield f"{indent}  {_labelled(name, told)}"
        case Pad(label=label, heads=heads, rows=numbers, foot=foot):
            yield f"{indent}{label}"
            yield from _columns((heads, *numbers, *foot), indent + "  ")
        case Board(label=label, words=words):
            yield f"{indent}{_labelled(label, words)}"


def _labelled(label: str, text: str) -> str:
    return f"{label}: {text}" if label else text


def _held(held: Held) -> str:
    if isinstance(held, Cards):
        faces = [str(face.card) for face in held.faces]
    else:
        faces = [str(tile) for tile in held.tiles]
    told = " ".join([*faces, *[BACK] * held.backs]) or "–"
    return f"{told}  ({held.note})" if held.note else told


def _columns(rows: tuple[tuple[str, ...], ...], indent: str) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first, *rest = zip(row, widths, strict=True)
        told = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
        yield indent + "  ".join(told).rstrip()
