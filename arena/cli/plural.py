"""Numbers with their nouns."""


def many(number: int, one: str, more: str = "") -> str:
    """A number of things: "1 match", "3 matches"; ``more`` is the plural if it is no plain s."""
    return f"{number} {one if number == 1 else more or one + 's'}"
