"""Test renderings of positions of the golden records against values worked out by hand."""

from pathlib import Path

from referee.games.registry import find_game
from referee.presentation.elements import (
    CardGroup,
    CardLines,
    DominoLayout,
    OpenCards,
    Players,
    PrivateCards,
    ScoreTable,
    TableRendering,
    TrickTable,
)
from referee.presentation.registry import presentation_of
from referee.record import read
from referee.replay import steps

GOLDEN = Path(__file__).parents[2] / "golden"


def position(name: str, step: int) -> TableRendering:
    """Render a position of the first game of a golden record with all hands open.

    The seats are named a, b, c, and so on.
    """
    record = read((GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8"))
    assert record.seed is not None
    state = list(steps(record.match, record.games[0], record.seed))[step].state
    seats, rules = record.match["seats"], find_game(record.match["game"])
    table = Players(
        tuple("abcdef"[:seats]),
        rules.sides(seats, record.match["options"]),
        state.scores,
        state.actors,
    )
    hands = {seat: state.view(seat) for seat in range(seats)}
    return presentation_of(rules.id).render(state.public(), hands, table)


def words(cards: CardGroup) -> str:
    """Return the cards as text; "!" marks cards that the last action played."""
    return " ".join(face.card + "!" * ("fresh" in face.marks) for face in cards.faces)


def marked(cards: CardGroup, mark: str) -> str:
    return " ".join(face.card for face in cards.faces if mark in face.marks)


def row(rendering: TableRendering, key: str, seat: int | None = None) -> CardGroup:
    areas = rendering.centre if seat is None else rendering.seats[seat].areas
    (named_area,) = (area for area in areas if area.key == key)
    assert isinstance(named_area, OpenCards)
    assert isinstance(named_area.held, CardGroup)
    return named_area.held


def secret(rendering: TableRendering, key: str, seat: int) -> tuple[CardGroup, CardGroup]:
    (named_area,) = (area for area in rendering.seats[seat].areas if area.key == key)
    assert isinstance(named_area, PrivateCards)
    assert isinstance(named_area.opened, CardGroup)
    assert isinstance(named_area.closed, CardGroup)
    return named_area.opened, named_area.closed


def trick_table(rendering: TableRendering, key: str) -> dict[str, str]:
    """Return the cells of each row as text; "*" marks the winner of a trick."""
    (named_area,) = (area for area in rendering.centre if area.key == key)
    assert isinstance(named_area, TrickTable)
    return {
        name: " | ".join(words(cell.cards) + "*" * cell.won for cell in cells)
        for name, cells in named_area.rows
    }


def score_table(rendering: TableRendering) -> ScoreTable:
    (below,) = rendering.below
    assert isinstance(below, ScoreTable)
    return below


def badges(rendering: TableRendering, seat: int) -> list[str]:
    return [badge.text for badge in rendering.seats[seat].badges]


def test_poke_shows_tricks_with_winners_and_discards_face_down() -> None:
    rendering = position("poke-2-must_beat=true", 9)
    assert rendering.heading == "Deal 1 · the tricks"
    assert trick_table(rendering, "tricks") == {"b": "4D | 8C!*", "a": "AH* | 6D!"}
    assert badges(rendering, 0) == ["legs 0", "below 0", "dealer", "redoubled"]
    opened, closed = secret(rendering, "out", 0)
    assert words(opened) == "9C 9D QC 5S 8D JS 2D 5D 7D"
    assert (closed.faces, closed.backs) == ((), 9)
    assert [seat.is_to_act for seat in rendering.seats] == [False, True]


def test_a_new_deal_of_poke_shows_how_the_previous_deal_ended() -> None:
    rendering = position("poke-2-must_beat=true", 15)
    assert rendering.heading == "Deal 2 · the draw"
    assert trick_table(rendering, "ended") == {
        "b": "4D | 8C* | 6H | 5C* | KH*",
        "a": "AH* | 6D | JC* | 2C | 4S",
    }
    # Two and three tricks, each times four: both players had redoubled.
    assert score_table(rendering).rows == (("1", "8", "·", "12", "·"),)
    assert trick_table(position("poke-2-must_beat=true", 16), "tricks") == {"b": "", "a": ""}


def test_pokex_shows_the_centre_above_its_tricks() -> None:
    rendering = position("pokex-4", 19)
    assert rendering.facts == ("b bid 6, 3 taken", "tens and jokers are wild")
    tricks = trick_table(rendering, "tricks")
    assert tricks["centre"] == "TC | 9H | X1 | QH | 4H | AD"
    assert tricks["b"] == "2S 4S* | 5S 8H* | 2D 9D | QD! X2!* |  | "
    opened, closed = secret(rendering, "hand", 2)
    assert (words(opened), marked(opened, "wild")) == ("3H TD TS AS", "TD TS")
    assert closed.backs == 4
    (note,) = [
        area.note for area in rendering.centre if isinstance(area, TrickTable) and area.heads
    ]
    assert note == "a and c: ace high · b and d: three queens ✓"


def test_saint_poker_shows_shown_and_picked_up_cards() -> None:
    rendering = position("saint_poker-3", 5)
    assert words(row(rendering, "river")) == "8C KS AS AH 5D"
    assert words(row(rendering, "future")) == "KD QC"
    shown = row(rendering, "shown", 0)
    assert (words(shown), shown.note) == ("2D 5C", "two pairs, aces and fives")
    assert marked(row(rendering, "shown", 1), "gone") == "2C 4S"
    opened, closed = secret(rendering, "hand", 0)
    assert marked(opened, "known") == "2C"
    assert (words(closed), closed.backs) == ("2C!", 7)
    assert [badges(rendering, seat) for seat in range(3)] == [
        ["best hand"],
        ["3rd best"],
        ["2nd best"],
    ]


def test_pouku_shows_fields_keeps_and_the_winning_set() -> None:
    rendering = position("pouku-4-teams=true-reference=right", 32)
    assert words(row(rendering, "field", 2)) == "QS 9H 6S 3H KC!"
    assert marked(row(rendering, "field", 2), "point") == "QS"
    assert words(row(rendering, "kept", 1)) == "2H 3S 4H 5C"
    opened, _ = secret(rendering, "hand", 1)
    assert (words(opened), opened.note) == ("2C! TH AD", "may go out for 14 · risks 2")
    rendering = position("pouku-3-teams=false-reference=right", 10)
    (ended,) = (area for area in rendering.centre if isinstance(area, CardLines))
    assert [(label, words(cards)) for label, cards in ended.rows] == [
        ("straight 2", "8C 9H TD JC"),
        ("pair 1", "AC AH"),
        ("pair 1", "4D 4H"),
        ("point card", "TS"),
    ]
    assert score_table(rendering).foot == (("score", "", "−10", "−8", "+6"),)


def test_pokino_shows_dominoes_and_their_majorities() -> None:
    rendering = position(
        "pokino-2-greed=false-pokino_up=false-tear_down_the_walls=false-territory=true", 40
    )
    board = rendering.centre[0]
    assert isinstance(board, DominoLayout)
    dominoes = [piece for piece in board.pieces if piece.what == "domino"]
    tokens = [piece for piece in board.pieces if piece.what == "token"]
    assert (len(dominoes), len(tokens), board.words) == (42, 3, "42 dominoes, 3 tokens")
    gained = [sum(map(int, p.text.split("-"))) for p in dominoes if p.seat == 0]
    assert sum(gained) == rendering.seats[0].score == 52
    (fresh,) = (piece for piece in board.pieces if piece.what == "fresh")
    assert (fresh.x, fresh.y, fresh.second_x, fresh.second_y) == (4, -9, 5, -9)
