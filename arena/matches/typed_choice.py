"""Find the action that a person has typed, and explain why a text chooses none. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from referee.games.contract import Action

if TYPE_CHECKING:
    from arena.matches.human_seats import PersonQuestion

_TEN: Final = re.compile(r"\b10(?=[cdhs]\b)", re.IGNORECASE)
_SUITS: Final = str.maketrans("♣♦♥♠", "cdhs")
_PIECE: Final = re.compile(r"[2-9tjqka][cdhs]|x[12]|\d{1,2}-\d{1,2}")
"""A card or a domino."""
MAX_CHARACTERS: Final = 400
"""Maximum length of a typed text; a longer one is cut. The lines of all games are shorter."""


@dataclass(frozen=True, slots=True)
class RefusedChoice:
    """A choice that is not played.

    Attributes:
        code: "empty", "number", "several", "not-legal", "stale" or "withdrawn".
        sentence: the reason, for the person.
    """

    code: str
    sentence: str


def with_card_names(text: str) -> str:
    """Return a text with cards as the games write them: "10♣" as "tc"."""
    return _TEN.sub("t", text.translate(_SUITS))


def words_of(text: str) -> list[str]:
    """Return the words of a text as :func:`matching` compares them."""
    return with_card_names(text).lower().split()


def number_of(text: str) -> int | None:
    """Return the number that a text consists of; None if it is something else."""
    text = text.strip()
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 7 else None


def exact_match(choices: Sequence[str], text: str) -> int | None:
    """Return the index of the choice that a text equals word by word; None without one.

    Its words may also be those of other choices: ``discard JD keep JS JC`` has the words of
    ``discard JS keep JD JC``.
    """
    words = words_of(text)
    return next((n for n, choice in enumerate(choices) if choice.lower().split() == words), None)


def matching(choices: Sequence[str], text: str) -> tuple[int, ...]:
    """Return the indices of the choices that contain the words, in any order; all for a number.

    Each word of the text must begin a different word of the choice.
    """
    words = words_of(text)
    if not words or number_of(text) is not None:
        return tuple(range(len(choices)))
    return tuple(n for n, choice in enumerate(choices) if _contains(choice, words))


def _contains(choice: str, words: Sequence[str]) -> bool:
    left = choice.lower().split()
    for word in sorted(words, key=len, reverse=True):
        match = next((candidate for candidate in left if candidate.startswith(word)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def typed(question: PersonQuestion, text: str) -> Action | RefusedChoice:
    """Return the legal action that a text chooses, or why it chooses none.

    A text is the number of a listed action from 1, a whole action, or words of exactly one action.
    """
    text = text[:MAX_CHARACTERS]
    number = number_of(text)
    total = len(question.actions)
    if number is not None:
        if 0 < number <= total:
            return question.actions[number - 1]
        return RefusedChoice("number", f"The numbers of the actions are 1 to {total}.")
    if not text.strip():
        return RefusedChoice("empty", "Choose an action, or type words of one.")
    choices = question.choices()
    exact = exact_match(choices, text)
    if exact is not None:
        return question.actions[exact]
    whole = question.parse(with_card_names(text))
    if whole is not None:
        return whole
    matches = matching(choices, text)
    # The words of a whole action may begin those of others: "draw" and "draw 2C".
    words = sorted(words_of(text))
    whole_matches = [n for n in matches if sorted(choices[n].lower().split()) == words]
    for only in (matches, whole_matches):
        if len(only) == 1:
            return question.actions[only[0]]
    if matches:
        sentence = f"{len(matches)} actions contain these words: type more of them, or choose one."
        return RefusedChoice("several", sentence)
    return RefusedChoice("not-legal", _objection(question, choices, text))


def _objection(question: PersonQuestion, choices: Sequence[str], text: str) -> str:
    """Explain why no legal action matches a text: its kind, its cards, or their combination."""
    words = words_of(text)
    kinds = list(dict.fromkeys(choice.split()[0] for choice in choices))
    if not _PIECE.fullmatch(words[0]) and not any(kind.startswith(words[0]) for kind in kinds):
        possible = ", ".join(f"“{kind}”" for kind in kinds)
        return f"“{words[0]}” is not possible now. Possible: {possible}."
    used = {word for choice in choices for word in choice.lower().split()}
    unused = [word.upper() for word in words if _PIECE.fullmatch(word) and word not in used]
    if not unused:
        return f"No legal action contains all of “{text.strip()}”."
    held = {str(card) for card in getattr(question.view, "hand", ())}
    absent = [piece for piece in unused if piece not in held]
    if absent:
        return f"{' '.join(absent)}: not in your hand, and no legal action uses it."
    return f"{' '.join(unused)}: in your hand, but the rules do not allow it now."
