"""Lessons of Saint Poker, with three seats: two cards of the river are dealt."""

from referee.games.shared.cards import cards, deck_of
from referee.games.shared.dealing import Arranged
from referee.presentation.lesson import Lesson, LessonAnswer


def _dealt(*groups: str) -> Arranged:
    return Arranged(orders={("deck", 0): deck_of(*map(cards, groups))})


LESSONS = (
    Lesson(
        title="Add to the river",
        question="The river begins 6♠ 7♠. Add one card now; then you show two more. Which card "
        "makes a straight flush certain?",
        rule="S-3.1",
        seats=3,
        luck=_dealt(
            "5S 8S 9S KH KD 2C 3D 4H JC QD",
            "2D 2H 3H 3C 4C 4D 5D 6H 7D 8H",
            "TD TH JD JH QC QH AC AD AH 9D",
            "6S 7S TC 8D",
        ),
        answers=(
            LessonAnswer(
                "river 8S",
                "6 7 8 of spades lie in the river, and you show 5♠ 9♠: a straight flush, whatever "
                "the others add.",
                True,
            ),
            LessonAnswer("river KH", "You can show only two spades then: four are no flush."),
            LessonAnswer("river 2C", "A low card helps nobody, but it does not help you either."),
        ),
    ),
    Lesson(
        title="Show two cards",
        question="The best five of the river and your two cards count. Which two do you show?",
        rule="S-3.1",
        seats=3,
        luck=_dealt(
            "KS 8D AC QH JD 2C 4S 6C 9H TS",
            "8C 7D 7H 6S 6H 5D 4D 3H 3C 2H",
            "5S 4C 4H 3S 3D 2S 9C 9D TC JH",
            "KD KH QD JC",
        ),
        turns=("river 2C / river 8C / river 5S",),
        answers=(
            LessonAnswer(
                "show 8D KS",
                "With K K 8 of the river: a full house. None, one or both of your cards count.",
                True,
            ),
            LessonAnswer("show KS AC", "Three kings. Your ace is only the card beside them."),
            LessonAnswer("show QH AC", "The river's pair of kings with an ace and a queen."),
        ),
    ),
    Lesson(
        title="Which hand is higher?",
        question="The river is 2♠ 3♠ 4♠ 5♠ 9♦. Which two cards make the best hand?",
        rule="S-3.3",
        seats=3,
        luck=_dealt(
            "4S AS 6H 7H 9H 9C KD JC 2H 3D",
            "5S 8D 8C TC TD QC QD 6C 7C 4H",
            "9D 2C 2D 3C 3H 4C JD JH KC AC",
            "2S 3S QH KH",
        ),
        turns=("river 4S / river 5S / river 9D",),
        answers=(
            LessonAnswer(
                "show 6H AS",
                "A 2 3 4 5 of spades is a straight flush: the ace is low here, and it beats "
                "everything else.",
                True,
            ),
            LessonAnswer("show 6H 7H", "A straight to the seven, but a straight is less."),
            LessonAnswer("show 9C 9H", "Three nines: less than a straight."),
        ),
    ),
    Lesson(
        title="The worst hand chooses first",
        question="You had the worst hand, so you pick up first. You hold a pair of queens.",
        rule="S-4.1",
        seats=3,
        luck=_dealt(
            "2C 3D 5H QS QH 4C 6D 7H 8S TC",
            "QD AD AC 2H 3C 4D 5C 6C 7C 8C",
            "TD KD KC 2S 3S 4S 5D 6S 7S 8D",
            "JS 9H JD TS",
        ),
        turns=(
            "river 2C / river QD / river TD",
            "show 3D 5H / show AC AD / show KC KD",
        ),
        answers=(
            LessonAnswer(
                "pick up QD",
                "From worst to best, everybody takes a card of the table, twice. Three queens!",
                True,
            ),
            LessonAnswer("pick up AD", "A high card, but it stands alone in your hand."),
            LessonAnswer("pick up JS", "It stands alone in your hand."),
        ),
    ),
    Lesson(
        title="Look ahead",
        question="The next river begins with 8♥ 9♥, which lie face up. You hold 10♥ and Q♥. "
        "Which card do you pick up?",
        rule="S-2.1",
        seats=3,
        luck=_dealt(
            "2C 3D 5H TH QH 4C 6D 7S 4S 2S",
            "JH AD AC 2H 3C 4D 5C 6C 7C 8C",
            "TD KD KC 6S 3S QC 5D 9C 7D 8D",
            "JS KS 8H 9H",
        ),
        turns=(
            "river 2C / river JH / river TD",
            "show 3D 5H / show AC AD / show KC KD",
        ),
        answers=(
            LessonAnswer(
                "pick up JH",
                "8 9 10 J Q of hearts: the future river and your hand make a straight flush in the "
                "next round, which gives 2 points.",
                True,
            ),
            LessonAnswer("pick up JS", "This jack makes only a straight: it is not a heart."),
            LessonAnswer("pick up AD", "An ace does not fit the next river."),
        ),
    ),
)
