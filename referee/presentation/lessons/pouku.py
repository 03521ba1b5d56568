"""Lessons of Pouku, with three seats: both other fields are reference fields."""

from referee.games.shared.cards import cards, deck_of
from referee.games.shared.dealing import Arranged
from referee.presentation.lesson import Lesson, LessonAnswer


def _dealt(point_card: str, hands: str, fields: str, stock: str) -> Arranged:
    """Return the luck of a deal; hands and fields by seat, two cards each."""
    deck = deck_of(*map(cards, (point_card, hands, fields, stock)))
    return Arranged({("dealer", 0): 0}, {("deck", 0): deck})


LESSONS = (
    Lesson(
        title="Go out",
        question="Combinations score: with the fields of Ann and Ben your hand makes 8 8 8, 3 3 "
        "and 7 7. From 5 points you may end the deal. What do you do?",
        rule="U-4.1",
        seats=3,
        luck=_dealt("AC", "8C 3C 2C 4C 5C TC", "KC JC 8D 7C 3D 7D", "8H"),
        answers=(
            LessonAnswer(
                "go out",
                "Three of a kind 3 and two pairs 1 each: 5 is enough. The first turn adds 1.",
                True,
            ),
            LessonAnswer("discard 3C", "You give up the pair of threes and cannot go out now."),
            LessonAnswer("discard 8C", "Two eights are worth less than three."),
        ),
    ),
    Lesson(
        title="A straight",
        question="4 and 7 lie in the others' fields. Which card do you not need?",
        rule="U-2.2",
        seats=3,
        luck=_dealt("AC", "5C 6D 2C 8C 3C TC", "QC JC 4S 9C 7H JD", "KH"),
        answers=(
            LessonAnswer(
                "discard KH",
                "4 5 6 7 is a straight of four cards, worth 2. The king is in no combination.",
                True,
            ),
            LessonAnswer("discard 5C", "Without the 5 there is no straight."),
            LessonAnswer("discard 6D", "Without the 6 there is no straight."),
        ),
    ),
    Lesson(
        title="Keep",
        question="Once a deal you may lay one card of your hand aside with cards of other fields, "
        "as one yaku (a combination). Which keep is worth most?",
        rule="U-5.1",
        seats=3,
        luck=_dealt("AC", "QC 2D 3C 8C 4C TC", "KC JC QS QD QH 9C", "6H"),
        answers=(
            LessonAnswer(
                "discard 6H keep QC QS QD QH",
                "Four of a kind, worth 7. It counts for you, and nobody else can use it.",
                True,
            ),
            LessonAnswer("discard 6H keep QC QS", "A pair is worth 1; there are more queens."),
            LessonAnswer("discard 6H", "Without a keep the queens may be gone at your next turn."),
        ),
    ),
    Lesson(
        title="The point card",
        question="The point card is an ace: every ace is worth 2 more. Which card do you discard?",
        rule="U-2.3",
        seats=3,
        luck=_dealt("AC", "AH 3C 2C 8C 4C TC", "KC JC 3D QD 6H 7C", "9D"),
        answers=(
            LessonAnswer(
                "discard 9D",
                "Your ace is worth 2, and the 3 makes a pair with Ann's 3. The 9 does nothing.",
                True,
            ),
            LessonAnswer("discard AH", "The ace is worth 2, and your neighbours could use it."),
            LessonAnswer("discard 3C", "The 3 makes a pair with the 3 in Ann's field."),
        ),
    ),
    Lesson(
        title="Your own field",
        question="Two eights lie in your own field, two nines in Ann's. Which card do you discard?",
        rule="U-4.2",
        seats=3,
        luck=_dealt("AC", "8C 5D 2C JC 4C TC", "8D 8S 9C 9D 5S QD", "9H"),
        answers=(
            LessonAnswer(
                "discard 8C",
                "Your own field never counts for you, so the 8 is alone. 9 9 9 and 5 5 stay.",
                True,
            ),
            LessonAnswer("discard 9H", "The 9 makes three of a kind with Ann's nines."),
            LessonAnswer("discard 5D", "The 5 makes a pair with the 5 in Ben's field."),
        ),
    ),
)
