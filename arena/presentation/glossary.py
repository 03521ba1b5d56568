"""The words of the arena and of its games, with their explanations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from referee.games.registry import GAMES
from referee.presentation.registry import presentation_of


@dataclass(frozen=True, slots=True)
class Term:
    """A word with its explanation in one or two sentences."""

    word: str
    meaning: str
    anchor: str
    """Its id on the page of the glossary."""


_ARENA: Final = (
    ("board", "One complete set of cards. All seatings of a match play the same boards."),
    ("deal", "One shuffle of the cards within a game."),
    ("form", "A game with a number of seats and its options. Each form has a ladder."),
    ("seating", "Who sits where. A match plays every seating, so luck is shared."),
    ("mirrored", "Played again with the seats exchanged, so that both have the same cards."),
    ("match", "All games of some bots on the same boards, in every seating."),
    ("entrant", "A bot at the table. With partners it plays both seats of a side."),
    ("ladder", "The ranking of a form. Matches are played without an end."),
    ("strength", "How well a bot plays, fitted to all matches. 400 more: 10 wins for each loss."),
    ("Elo", "A rating that changes after each match, by the expected and the real result."),
    ("LOS", "Likelihood of superiority: how certain it is that one bot is stronger."),
    ("95 % interval", "The range that contains the true value in 95 of 100 such cases."),
    ("rank range", "The ranks that are possible within the uncertainty of the strengths."),
    ("provisional", "A rating of too few games to be relied on."),
    ("win expectation", "The expected share of a win from a position, in per cent."),
    ("fault", "Why a bot was stopped: a crash, an illegal action, no answer in time."),
    ("void", "A match that does not count, because of the arena and not because of a bot."),
    ("gauntlet", "A format in which one or more challengers play all others."),
    ("SPRT", "A test of two versions that stops as soon as the result is clear."),
    ("house bot", "A bot that comes with the arena, such as greedy."),
)


@cache
def arena_terms() -> tuple[Term, ...]:
    """Return the words that all games share."""
    return tuple(Term(word, meaning, _anchor(word)) for word, meaning in _ARENA)


@cache
def game_terms(game: str) -> tuple[Term, ...]:
    """Return the words of a game, which its presentation describes."""
    return tuple(
        Term(word, meaning, f"{game}-{_anchor(word)}")
        for word, meaning in presentation_of(game).terms
    )


def find_term(word: str, game: str = "") -> Term:
    """Return a word of a game, or of the arena.

    Raises:
        LookupError: the glossary does not contain it.
    """
    terms = game_terms(game) if game in GAMES else arena_terms()
    return next(term for term in terms if term.word == word)


def _anchor(word: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")
