"""Lessons of Pokino, with two seats. The inner squares of the spoke are 6 4 1 12."""

from referee.games.shared.cards import cards, deck_of
from referee.games.shared.dealing import Arranged
from referee.games.shared.dominoes import dominoes, pile_of
from referee.presentation.lesson import Lesson, LessonAnswer

_INSIDE = (1, 0, 0, 1)
"""Which half of each domino of the spoke is inside; 1 is the larger."""
_DEALT = dominoes("9-11 2-3 3-10 5-8 2-2 10-10 0-6 4-5 1-7 8-12 1-10 3-3 6-9 7-9 1-1 11-11 4-4 2-8")
"""Both hands, the spoke, and the dominoes drawn next."""


def _dealt(deck: str = "") -> Arranged:
    """Return the luck; `deck`: the cards drawn next, in turns."""
    hands = cards("6S 4D 9H 8C KS"), cards("TC TH 2S 2H 3H")
    numbers = {("spoke", number): half for number, half in enumerate(_INSIDE)}
    orders = {("deck", 0): deck_of(*hands, cards(deck)), ("dominoes", 0): pile_of(_DEALT)}
    return Arranged({("first", 0): 0, **numbers}, orders)


LESSONS = (
    Lesson(
        title="Get beads",
        question="You score with a run: cards of your hand that equal numbers which touch on the "
        "board. A run of two cards costs two beads, and you have one. How do you get another?",
        rule="K-4.3",
        luck=_dealt(),
        answers=(
            LessonAnswer(
                "domino 2-3 2,2 down",
                "Laying a domino gives a bead and a new domino. It must touch another one, but its "
                "numbers need not match.",
                True,
                words="lay 2-3 below the 7",
            ),
            LessonAnswer("pass", "You draw a card, as in each turn, but no bead."),
        ),
    ),
    Lesson(
        title="Bring numbers together",
        question="You hold 9♥ and 6♠. Where do you lay a domino so that you can play them later?",
        rule="K-5.3",
        luck=_dealt(),
        answers=(
            LessonAnswer(
                "domino 9-11 0,-1 up",
                "The 9 lies above the 6, and a run may cross this border: 9 6, or 9 6 4.",
                True,
                words="lay 9-11 with the 9 above the 6",
            ),
            LessonAnswer(
                "domino 9-11 3,1 right",
                "The 9 lies beside a 7, and you have no card for a 7.",
                words="lay 9-11 with the 9 beside the 7",
            ),
            LessonAnswer(
                "domino 2-3 2,2 down",
                "You have no cards for a 2, a 3 or the 7 above.",
                words="lay 2-3 below the 7",
            ),
        ),
    ),
    Lesson(
        title="Play a run",
        question="You have two beads now. A 6 and a 4 touch in the middle. What do you play?",
        rule="K-5.2",
        luck=_dealt("6C 9S"),
        turns=("domino 2-3 2,2 down", "domino 5-8 -1,1 left"),
        answers=(
            LessonAnswer(
                "run 6S 0,0 4D 1,0",
                "A card for each square, in order: 5 points. Both cards leave your hand.",
                True,
                words="run 6S 4D",
            ),
            LessonAnswer("pass", "You draw a card and score nothing."),
            LessonAnswer(
                "domino 9-11 0,-1 up",
                "You get a third bead, but no points yet.",
                words="lay 9-11 with the 9 above the 6",
            ),
        ),
    ),
    Lesson(
        title="A closed border",
        question="Your run has left a token between 6 and 4. You hold 6♣, 4♥ and A♣. How do you "
        "score again?",
        rule="K-2.3",
        luck=_dealt("6C 9S AC 3C 4H 5C JD 7C"),
        turns=(
            "domino 2-3 2,2 down",
            "domino 5-8 -1,1 left",
            "run 6S 0,0 4D 1,0",
            "domino 2-2 -2,0 left",
            "domino 3-10 2,4 down",
            "domino 10-10 -1,-1 up",
            "domino 1-10 2,0 right",
            "domino 3-3 3,1 right",
        ),
        answers=(
            LessonAnswer(
                "run 4H 1,0 AC 1,1",
                "The border from 4 to 1 is open, and an ace is 1. The one with the token is closed "
                "to everybody until the end, so 6 4 is not possible.",
                True,
                words="run 4H AC",
            ),
            LessonAnswer("pass", "You draw a card and score nothing."),
            LessonAnswer(
                "domino 9-11 0,-1 up",
                "A bead more, but no points.",
                words="lay 9-11 with the 9 above the 6",
            ),
        ),
    ),
    Lesson(
        title="Long runs",
        question="You have five beads. Which run scores most?",
        rule="K-7.1",
        luck=_dealt("6C 9S AC 3C QH 5C JD 7C"),
        turns=(
            "domino 2-3 2,2 down",
            "domino 5-8 -1,1 left",
            "domino 3-10 2,4 down",
            "domino 2-2 -2,0 left",
            "domino 1-10 2,0 right",
            "domino 10-10 -1,-1 up",
            "domino 6-9 2,-1 right",
            "domino 3-3 3,1 right",
        ),
        answers=(
            LessonAnswer(
                "run 6S 0,0 4D 1,0 AC 1,1 QH 0,1 6C 0,0",
                "Five cards score 10: an ace is 1, a queen 12, and a run may come back to a "
                "square. Runs of 2 to 4 cards score 5.",
                True,
                words="run 6S 4D AC QH 6C",
            ),
            LessonAnswer(
                "run 6S 0,0 4D 1,0 AC 1,1 QH 0,1",
                "Four cards score 5, as two or three would.",
                words="run 6S 4D AC QH",
            ),
            LessonAnswer("run 6S 0,0 4D 1,0", "Two cards score 5.", words="run 6S 4D"),
        ),
    ),
)
