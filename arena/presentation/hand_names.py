"""Names of poker hands."""

from referee.games.shared.poker import HandValue
from referee.games.shared.wild_cards import WildValue

_RANKS = {
    2: "twos", 3: "threes", 4: "fours", 5: "fives", 6: "sixes", 7: "sevens", 8: "eights",
    9: "nines", 10: "tens", 11: "jacks", 12: "queens", 13: "kings", 14: "aces",
}  # fmt: skip
_TOPS = {
    2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight",
    9: "nine", 10: "ten", 11: "jack", 12: "queen", 13: "king", 14: "ace",
}  # fmt: skip


def category(value: HandValue | WildValue) -> str:
    """Return the name of a hand: "two pairs, kings and fours"."""
    name = value.category.name.lower().replace("_", " ")
    first, *others = value.ranks
    match name:
        case "two pairs" | "full house":
            return f"{name}, {_RANKS[first]} and {_RANKS[others[0]]}"
        case "pair":
            return f"pair of {_RANKS[first]}"
        case "three of a kind" | "four of a kind" | "five of a kind":
            return f"{name.split()[0]} {_RANKS[first]}"
        case "high card":
            return f"{_TOPS[first]} high"
        case "straight flush" if first == 14:
            return "royal flush"
    return f"{name} to the {_TOPS[first]}"
