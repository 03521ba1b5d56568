"""Present Pokex: the centre and the tricks as one table, the auction, the score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from referee.games.contract import Action
from referee.games.pokex.actions import (
    Bid,
    NameWild,
    PlayCard,
    PlayPair,
    PokexCall,
    PokexDeal,
    PokexPlayed,
    PokexTrick,
    PokexView,
)
from referee.games.shared.cards import Card
from referee.games.shared.wild_cards import is_wild, wild_hand
from referee.presentation.contract import Presentation
from referee.presentation.elements import (
    FRESH,
    WILD,
    Badge,
    CardGroup,
    CardLines,
    FaceUpCard,
    OpenCards,
    Players,
    PrivateCards,
    PublicAction,
    ScoreTable,
    TableRendering,
    TrickCell,
    TrickTable,
    category,
    trick_table,
)

_TRICKS = 6
_HANDS = {2: 18, 4: 12}
_ASKED = {
    "bid": "the auction",
    "name": "the wild rank",
    "play": "the tricks",
    "over": "the game is over",
}
_PLURAL = {"A": "aces", "K": "kings", "Q": "queens", "J": "jacks", "T": "tens"}
Marked = Callable[[Sequence[Card]], CardGroup]
"""Lays cards face up with marks on the wild ones."""


def _marking(wild_rank: str, *marks: str) -> Marked:
    def lay(cards: Sequence[Card]) -> CardGroup:
        return CardGroup(
            tuple(FaceUpCard(c, (*marks, *((WILD,) * is_wild(c, wild_rank)))) for c in cards)
        )

    return lay


def _facts(public: PokexView, players: Players) -> tuple[str, ...]:
    if public.phase in ("bid", "over"):
        return ()
    jokers = "only the jokers are wild"
    wild = f"{rank_words(public.wild_rank)} and jokers are wild" if public.wild_rank else jokers
    if not public.bid:
        return ("all passed", jokers)
    taken = public.taken[public.declarer % 2]
    bid = f"{players.names[public.declarer]} bid {public.bid}, {taken} taken"
    return (bid, wild) if public.wild_rank else (bid,)


def rank_words(rank: str) -> str:
    """Return a rank in the plural: "kings", "7s"."""
    return _PLURAL.get(rank, f"{rank}s")


def _badges(public: PokexView, seat: int) -> list[Badge]:
    badges = []
    if public.phase != "over":
        if seat == public.dealer:
            badges.append(Badge("dealer", "plain"))
        badges += _call(public, seat)
    if public.phase == "play":
        badges.append(Badge(f"tricks {public.taken[seat % 2]}", "plain"))
    return badges


def _auction(public: PokexView, players: Players) -> CardLines:
    """Return the calls of the deal in order; during the tricks, the heading names the last bid."""
    calls = () if public.phase in ("play", "over") else public.auction
    words = (f"{players.names[call.seat]} {call.tricks or 'passes'}" for call in calls)
    return CardLines("auction", "auction", (), ", ".join(words))


def _call(public: PokexView, seat: int) -> list[Badge]:
    """Return a seat's latest call; after the auction, only that of the declarer."""
    calls = [call.tricks for call in public.auction if call.seat == seat]
    if public.phase == "bid":
        return [Badge(f"bids {calls[-1]}" if calls[-1] else "passes", "plain")] if calls else []
    declares = public.bid and seat == public.declarer
    return [Badge(f"declarer, {public.bid}", "good")] if declares else []


def _hand(public: PokexView, hands: Mapping[int, PokexView], seat: int) -> PrivateCards:
    lay = _marking(public.wild_rank)
    left = 0
    if public.phase != "over":
        earlier = (play for trick in public.tricks for play in trick.played)
        gone = sum(len(play.cards) for play in (*earlier, *public.played) if play.seat == seat)
        left = _HANDS[2 if _is_small(public) else 4] - gone
    view = hands.get(seat)
    opened = None if view is None else lay(view.hand if left else ())
    return PrivateCards("hand", "hand", seat, opened, CardGroup(backs=left))


def _is_small(public: PokexView) -> bool:
    """Return whether there are two seats: the centre then has twelve cards."""
    return len(public.centre) == 2 * _TRICKS


def _centre(public: PokexView) -> OpenCards:
    """Return the centre before play; with two seats, the cards not yet in a trick."""
    if public.phase == "over" or (public.phase == "play" and not _is_small(public)):
        return OpenCards("centre", "centre", CardGroup())
    used = {c for trick in public.tricks for c in trick.centre} | set(public.turned)
    lay = _marking(public.wild_rank)
    label = "centre, still to come" if public.phase == "play" else "centre"
    return OpenCards("centre", label, lay([c for c in public.centre if c not in used]))


def _tricks(public: PokexView, players: Players) -> TrickTable:
    if public.phase != "play":
        return TrickTable("tricks", "tricks", (), ())
    fresh = len(public.tricks) - 1 if not public.played else -1
    columns = [
        _column(trick, public.wild_rank, players, n == fresh)
        for n, trick in enumerate(public.tricks)
    ]
    now = PokexTrick(public.turned, public.played, (0, 0))
    columns.append(
        [
            replace(cell, now=True)
            for cell in _column(now, public.wild_rank, players, False, len(public.played))
        ]
    )
    if not _is_small(public):
        lay = _marking(public.wild_rank)
        empty = [TrickCell()] * len(players.names)
        columns += [[TrickCell(lay((c,))), *empty] for c in public.centre[len(columns) :]]
    note = _compared(public.tricks[-1], public.wild_rank, players) if fresh >= 0 else ""
    return trick_table("tricks", "tricks", columns, ["centre", *players.names], note)


def _column(
    trick: PokexTrick, wild_rank: str, players: Players, fresh: bool, last: int = 0
) -> list[TrickCell]:
    """Return a trick as a column; ``last``: number of the latest action, from 1."""
    cells = [TrickCell(_marking(wild_rank)(trick.centre))]
    for seat in range(len(players.names)):
        laid: list[FaceUpCard] = []
        for number, play in enumerate(trick.played, 1):
            if play.seat == seat:
                marks = (FRESH,) if fresh or number == last else ()
                laid += _marking(wild_rank, *marks)(play.cards).faces
        led = bool(trick.played) and trick.played[0].seat == seat
        cells.append(TrickCell(CardGroup(tuple(laid)), bool(trick.taken[seat % 2]), led))
    return cells


def _compared(trick: PokexTrick, wild_rank: str, players: Players) -> str:
    """Return the hands of both sides in a trick as text."""
    hands = []
    for side in (0, 1):
        played = (c for play in trick.played if play.seat % 2 == side for c in play.cards)
        made = category(wild_hand((*trick.centre, *played), wild_rank))
        hands.append(f"{side_words(side, players)}: {made}{' ✓' * trick.taken[side]}")
    return " · ".join(hands)


def side_words(side: int, players: Players) -> str:
    """Return the names of a side."""
    return " and ".join(players.names[side::2])


def _ended(public: PokexView, players: Players) -> TrickTable | CardLines:
    """Return the previous deal until the first call of the current one."""
    fresh = public.phase == "over" or (public.phase == "bid" and not public.auction)
    if not (public.deals and fresh):
        return CardLines("ended", "", ())
    deal = public.deals[-1]
    columns = [_column(trick, deal.wild_rank, players, False) for trick in deal.tricks]
    gave = ", ".join(
        f"{side_words(side, players)} took {deal.taken[side]} and score {deal.points[side]}"
        for side in (0, 1)
    )
    note = f"{_bid(deal, players)}; {gave}"
    label = f"how deal {public.deal} ended"
    return trick_table("ended", label, columns, ["centre", *players.names], note)


def _bid(deal: PokexDeal, players: Players) -> str:
    if not deal.bid:
        return "all passed"
    return f"{players.names[deal.declarer]} bid {deal.bid}, {rank_words(deal.wild_rank)} wild"


def _pad(public: PokexView, players: Players) -> ScoreTable:
    """Return bids, tricks and points, one row per deal."""
    sides = [side_words(side, players) for side in (0, 1)]
    heads = ("deal", "bid", "wild", *(f"{s}, {w}" for s in sides for w in ("tricks", "points")))
    rows = [
        (
            str(number),
            f"{players.names[deal.declarer]} {deal.bid}" if deal.bid else "–",
            {"T": "10", "": "–"}.get(deal.wild_rank, deal.wild_rank),
            *(str(n) for s in (0, 1) for n in (deal.taken[s], deal.points[s])),
        )
        for number, deal in enumerate(public.deals, public.deal - len(public.deals) + 1)
    ]
    foot = ("score", "", "", "", str(public.points[0]), "", str(public.points[1]))
    return ScoreTable("scores", "score", heads, tuple(rows), (foot,))


def _calls(auction: Iterable[PokexCall], declarer: int, wild_rank: str) -> Iterator[PublicAction]:
    """Yield the actions before the tricks of a deal."""
    for call in auction:
        yield PublicAction(call.seat, f"bids {call.tricks}" if call.tricks else "passes")
    if wild_rank:
        yield PublicAction(declarer, _named(wild_rank))


def _plays_of(tricks: Iterable[PokexTrick]) -> Iterator[PublicAction]:
    return _plays(play for trick in tricks for play in trick.played)


def _plays(played: Iterable[PokexPlayed]) -> Iterator[PublicAction]:
    for play in played:
        yield PublicAction(play.seat, f"plays {' '.join(play.cards)}")


def _named(rank: str) -> str:
    return f"makes {'10' if rank == 'T' else rank} wild"


class PokexPresentation(Presentation):
    """Presentation of Pokex."""

    clip = 50
    seconds = 0.2
    demo_searcher = True  # it wins even over few boards
    target_rate = 55_000
    summary = "Bid how many tricks you will take, name a wild rank, win tricks with poker hands."
    aim = (
        "Deals are played until a side has 33 points. The higher total wins: take as many tricks "
        "as you bid, or stop the bid of the others."
    )
    terms = (
        ("declarer", "The player with the highest bid, who names the wild rank."),
        ("wild card", "A card that stands for any other: a joker, or a card of the wild rank."),
        ("defenders", "The side that does not play for the bid."),
    )
    short_rules = """\
Bid, name a wild rank, then six tricks of five-card poker hands. Cards are rank then suit, X1
and X2 are jokers, which are always wild; ranks from 2 up to A.
- Auction: pass, or bid more tricks than the standing bid, 1 to 6. It ends when all others have
  passed after a bid, or with a bid of 6. The last bidder is the declarer and names the wild
  rank. If all pass, only jokers are wild.
- Four seats (0 and 2 against 1 and 3): each plays two cards to every trick; a side's hand is
  its four cards and the centre card of the trick. The declarer's right plays first to every
  trick.
- Two seats: both play three cards by turns to every trick; a hand is the three cards and the
  two centre cards turned up for the trick. The declarer's opponent plays first to every trick.
- Hands rank as in poker, five of a kind highest. Equal hands: fewer wild cards are better, then
  the declarer's side wins.
- Score: defenders get 1 + 2 + ... + n for n tricks. The declarer's side gets nothing below the
  bid, else 1 + 2 + ... + bid, and the bid again for each trick more. Without a declarer each
  side scores as a defender. The game ends after a deal with 33 points or more and different
  totals; the higher total wins."""

    prompt = "Click the framed cards that you play; a “pair” is any two cards."
    tasks = (
        ("bid", "bid the number of tricks that you will win, or pass"),
        ("name", "name the wild rank"),
        ("play", "play cards: the better poker hand takes the trick"),
    )
    hidden_cards = (("aside", "set aside"),)

    def render(
        self, public: PokexView, hands: Mapping[int, PokexView], players: Players
    ) -> TableRendering:
        """Return the rendering of a position; a chapter is a deal."""
        over = public.phase == "over"
        chapter = public.deal - over
        return TableRendering(
            chapter=chapter,
            heading=f"Deal {chapter + 1} · {_ASKED[public.phase]}",
            facts=_facts(public, players),
            seats=tuple(
                players.seat(seat, _badges(public, seat), [_hand(public, hands, seat)])
                for seat in range(len(players.names))
            ),
            centre=(
                _ended(public, players),
                _auction(public, players),
                _centre(public),
                _tricks(public, players),
            ),
            below=(_pad(public, players),),
        )

    def scores(self, public: PokexView, seats: int) -> tuple[int, ...]:
        return public.points * (1 if _is_small(public) else 2)

    def phrase(self, action: Action) -> str:
        match action:
            case Bid(tricks):
                return f"bids {tricks}"
            case NameWild(rank):
                return _named(rank)
            case PlayPair(cards):
                return f"plays {' '.join(cards)}"
            case PlayCard(card):
                return f"plays {card}"
        return "passes"

    def history(self, public: PokexView) -> Sequence[PublicAction]:
        deals = [
            [*_calls(deal.auction, deal.declarer, deal.wild_rank), *_plays_of(deal.tricks)]
            for deal in public.deals
        ]
        if public.phase != "over":
            calls = _calls(public.auction, public.declarer, public.wild_rank)
            deals.append([*calls, *_plays_of(public.tricks), *_plays(public.played)])
        return PublicAction.numbered(deals)

    def rules_now(self, view: PokexView) -> Sequence[str]:
        if view.phase == "bid":
            return ("X-2", "X-7")
        if view.phase == "name":
            return ("X-3", "X-6.2")
        return ("X-5" if _is_small(view) else "X-4", "X-6")


PRESENTATION = PokexPresentation
