"""Format actions as short English phrases."""

from dataclasses import fields

from referee.game_codec import snake
from referee.games.contract import Action, Legal

_LISTED = 12


def describe(action: Action) -> str:
    """Format an action: ``lead 4C 4H``, ``discard 6H keep QC QS``, ``pass turn no draw``.

    Fields at their default are omitted.
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


def describe_some(legal: Legal) -> str:
    """Format the first 12 legal actions, with ``...`` if there are more."""
    words = [describe(action) for action, _ in zip(legal, range(_LISTED + 1), strict=False)]
    more = len(words) > _LISTED
    return " | ".join(words[:_LISTED]) + (" | ..." if more else "")
