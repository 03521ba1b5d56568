"""Actions in words."""

from dataclasses import fields

from referee.codec import snake
from referee.games.contract import Action, Legal

_LISTED = 12


def describe(action: Action) -> str:
    """An action in words: ``lead 4C 4H``, ``discard 6H keep QC QS``, ``pass turn no draw``.

    What is as it is by default is not said.
    """
    words = [snake(type(action).__name__).replace("_", " ")]
    for number, field in enumerate(fields(action)):
        value = getattr(action, field.name)
        if value is False:
            words += ["no", field.name]
            continue
        if value == field.default:
            continue
        if number and isinstance(value, tuple):
            words.append(field.name)
        words.extend(map(str, value) if isinstance(value, tuple) else [str(value)])
    return " ".join(words)


def some(legal: Legal) -> str:
    """The first legal actions, in words."""
    words = [describe(action) for action, _ in zip(legal, range(_LISTED + 1), strict=False)]
    more = len(words) > _LISTED
    return " | ".join(words[:_LISTED]) + (" | ..." if more else "")
