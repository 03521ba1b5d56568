"""Lessons of Pokex, with four seats: you and Ben against Ann and Cem."""

from referee.games.shared.cards import DECK_WITH_JOKERS, cards, deck_of
from referee.games.shared.dealing import Arranged
from referee.presentation.lesson import Lesson, LessonAnswer

_YOU = "8S 8H 8D AC KD 7D QC 5S 4D 3C 2H 2C"
_LAST = ("pass bid", "pass bid", "bid 3", "pass bid", "pass bid", "pass bid")
"""The auction after which the seat plays last."""


def _dealt(*groups: str, dealer: int = 3) -> Arranged:
    deck = deck_of(*(cards(group, DECK_WITH_JOKERS) for group in groups), deck=DECK_WITH_JOKERS)
    return Arranged({("dealer", 0): dealer}, {("deck", 0): deck})


LESSONS = (
    Lesson(
        title="What a bid is worth",
        question="You expect your side to take four of the six tricks. Which bid scores most then?",
        rule="X-7.2",
        luck=_dealt(_YOU),
        answers=(
            LessonAnswer("bid 3", "Bid 3 and four taken: 1 + 2 + 3, and 3 more: 9 points."),
            LessonAnswer("bid 4", "Bid 4 and four taken: 1 + 2 + 3 + 4 = 10 points.", True),
            LessonAnswer("bid 5", "Four tricks are fewer than five: your side scores nothing."),
            LessonAnswer("bid 1", "Bid 1 and four taken: 1, and 3 more: 4 points."),
        ),
    ),
    Lesson(
        title="Outbid",
        question="Cem has bid 3. What is the lowest bid that takes the auction from him?",
        rule="X-2.2",
        luck=_dealt(_YOU, dealer=2),
        turns=("bid 3",),
        answers=(
            LessonAnswer("bid 4", "A bid must be higher than the standing one; 4 is enough.", True),
            LessonAnswer("bid 5", "It outbids him, but your side must take one trick more."),
            LessonAnswer("bid 6", "The highest bid ends the auction: you must take every trick."),
            LessonAnswer(
                "pass bid", "His bid stands. You may bid again at your next turn.", words="pass"
            ),
        ),
    ),
    Lesson(
        title="Name the wild rank",
        question="Your bid is the highest, so you name the wild rank. You hold three eights.",
        rule="X-3.1",
        luck=_dealt(_YOU),
        turns=("bid 3", "pass bid", "pass bid", "pass bid"),
        answers=(
            LessonAnswer(
                "name wild 8",
                "All eights are wild now: three of your cards stand for any card you need.",
                True,
            ),
            LessonAnswer(
                "name wild A", "You hold one ace; the other three would be wild for others."
            ),
            LessonAnswer("name wild 2", "Two wild cards; with eights it would be three."),
        ),
    ),
    Lesson(
        title="Win a trick",
        question="You play last. Ann and Cem have three aces with the K♥ of the centre; Ben has "
        "played K♦ 7♣ for your side. Which two cards win?",
        rule="X-4.4",
        luck=_dealt(
            "KS 7D 9C 9D 2H 2S 2D 5H 6C 6D TC TH",
            "AS AH 3C 3D 3S 4C 4D 4H 5C 5D 6H 6S",
            "KD 7C 8C 8D 8H 8S TD TS 3H 2C 5S 4S",
            "AD QC QD QH QS JC JD JH JS 9H 9S 7H",
            "KH",
        ),
        turns=(
            *_LAST,
            "name wild 8",
            "play pair AS AH",
            "play pair KD 7C",
            "play pair AD QC",
        ),
        answers=(
            LessonAnswer(
                "play pair 7D KS",
                "K K K 7 7: a full house of your two cards, Ben's two and the centre card.",
                True,
            ),
            LessonAnswer("play pair 9C KS", "Three kings lose to three aces."),
            LessonAnswer("play pair 9C 9D", "Two pairs lose to three aces."),
        ),
    ),
    Lesson(
        title="Wild cards",
        question="Sevens and jokers are wild, and a joker lies in the centre. Ben has played two "
        "aces. Which two cards make the highest hand?",
        rule="X-6.2",
        luck=_dealt(
            "AC 7C KS KD 9D 2H 2S 2D 5H 6C 6D TC",
            "QS QH 3C 3D 3S 4C 4D 4H 5C 5D 6H 6S",
            "AS AD 8C 8D 8H 8S TD TS 3H 2C 5S 4S",
            "QD 9C KC KH QC JC JD JH JS 9H 9S 7H",
            "X1",
        ),
        turns=(
            *_LAST,
            "name wild 7",
            "play pair QS QH",
            "play pair AS AD",
            "play pair QD 9C",
        ),
        answers=(
            LessonAnswer(
                "play pair 7C AC",
                "A A A and two wild cards: five aces. Five of a kind is the highest hand.",
                True,
            ),
            LessonAnswer("play pair 7C KS", "Two aces and two wild cards: four aces."),
            LessonAnswer(
                "play pair KD KS", "A full house of aces and kings loses to their four queens."
            ),
        ),
    ),
)
