"""What a deal of Pokex gives, and when the game is over (docs/rules/pokex.md, *The score*)."""

from referee.games.pokex.words import Pair

GOAL = 33


def triangle(tricks: int) -> int:
    """1 + 2 + ... + tricks."""
    return tricks * (tricks + 1) // 2


def declared(bid: int, tricks: int) -> int:
    """What the declarer's side scores."""
    return 0 if tricks < bid else triangle(bid) + bid * (tricks - bid)


def score_deal(bid: int, declarer: int, taken: Pair) -> Pair:
    """The points of a deal by side; ``declarer`` is a seat and says nothing if ``bid`` is 0."""
    points = [triangle(tricks) for tricks in taken]
    if bid:
        side = declarer % 2
        points[side] = declared(bid, taken[side])
    return points[0], points[1]


def is_over(points: Pair) -> bool:
    """Whether a side has won, with these totals after a whole deal."""
    return max(points) >= GOAL and points[0] != points[1]
