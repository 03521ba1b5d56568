"""Lessons of Poke."""

from referee.games.shared.cards import cards, deck_of
from referee.games.shared.dealing import Arranged
from referee.presentation.lesson import Lesson, LessonAnswer

_STAND = ("stand", "stand")


def _dealt(yours: str, theirs: str, dealer: int) -> Arranged:
    deck = deck_of(cards(yours), cards(theirs))
    return Arranged({("dealer", 0): dealer}, {("deck", 0): deck})


LESSONS = (
    Lesson(
        title="The free draw",
        question="You deal and hold a pair of kings. Your first draw is free. How do you use it?",
        rule="P-2.6",
        luck=_dealt("KS KH 7D 4C 2S", "QS JH 9D 8C 6H", 0),
        turns=("stand",),
        answers=(
            LessonAnswer(
                "draw 7D 4C 2S",
                "The dealer's first draw costs nothing, and three new cards may improve the pair.",
                True,
                words="exchange 7D 4C 2S",
            ),
            LessonAnswer("stand", "A dealer who stands at once gives the free draw away."),
            LessonAnswer(
                "draw KS KH",
                "This throws away the pair, which is worth 50 points.",
                words="exchange KS KH",
            ),
        ),
    ),
    Lesson(
        title="The price of a draw",
        question="Ann deals, so each of your draws has a price. You have a full house.",
        rule="P-2.5",
        luck=_dealt("QS QH QD 5C 5D", "KS JH 9D 8C 6H", 1),
        answers=(
            LessonAnswer(
                "stand",
                "You keep 500 points for the full house, and the dealer's tricks count once.",
                True,
            ),
            LessonAnswer(
                "draw 5C 5D",
                "You are doubled: the dealer's tricks count two each. The full house is gone.",
                words="exchange 5C 5D",
            ),
            LessonAnswer(
                "draw QS QH QD",
                "Three of a kind is gone, and you are doubled: the worst choice.",
                words="exchange QS QH QD",
            ),
        ),
    ),
    Lesson(
        title="Lead a pair",
        question="You lead to the tricks. Which lead takes two tricks here?",
        rule="P-3.5",
        luck=_dealt("KD 9S 9H 5C 3D", "TS JD 4C 3H 2S", 1),
        turns=_STAND,
        answers=(
            LessonAnswer(
                "lead 9S 9H",
                "Every card counts as one trick. Only a higher pair beats your nines, and Ann "
                "has none.",
                True,
            ),
            LessonAnswer("lead KD", "The king takes its trick, but a single card takes only one."),
            LessonAnswer("lead 9S", "A ten or a jack beats a single nine."),
        ),
    ),
    Lesson(
        title="Beat a card",
        question="Ann leads the 9♠. Which card takes the trick at the lowest price?",
        rule="P-4.1",
        luck=_dealt("KH JD TC 6C 2D", "9S 8H 7D 5C 3S", 0),
        turns=(*_STAND, "lead 9S"),
        answers=(
            LessonAnswer(
                "answer TC",
                "The ten is enough. The 6 and the 2 are not allowed: who can beat the lead must, "
                "but any winning card will do.",
                True,
            ),
            LessonAnswer("answer JD", "It takes the trick, but the ten would have been enough."),
            LessonAnswer("answer KH", "It takes the trick, but your best card is gone."),
        ),
    ),
    Lesson(
        title="Two high cards are not a pair",
        question="Ann leads a pair of fives. You have no pair. What do you give?",
        rule="P-3.4",
        luck=_dealt("AC KD QD 7C 2D", "5S 5H 8H 6D 3S", 0),
        turns=(*_STAND, "lead 5S 5H"),
        answers=(
            LessonAnswer(
                "answer 2D 7C",
                "Cards of two ranks never beat a pair, so you give the two you need least.",
                True,
            ),
            LessonAnswer(
                "answer KD AC", "However high, an ace and a king are not a pair: they lose."
            ),
            LessonAnswer("answer QD KD", "These lose too, and could have taken later tricks."),
        ),
    ),
)
