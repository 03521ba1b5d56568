"""Present Poke: two hands, the tricks between them, the score pad of the rubber."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from referee.games.contract import Action
from referee.games.poke.actions import (
    Answer,
    Draw,
    Lead,
    PokeDeal,
    PokeDrawn,
    PokeTrick,
    PokeView,
)
from referee.games.poke.legal import can_beat
from referee.games.poke.state import NON_DEALER_DRAWS
from referee.presentation.contract import Presentation
from referee.presentation.elements import (
    FRESH,
    Badge,
    CardGroup,
    CardLines,
    Players,
    PrivateCards,
    PublicAction,
    ScoreTable,
    TableRendering,
    TrickCell,
    TrickTable,
    face_up,
    trick_table,
)

_HAND = 5
_DOUBLED = {2: "doubled", 4: "redoubled"}
_ASKED = {"draw": "the draw", "lead": "the tricks", "answer": "the tricks"}
_FACING = (1, 0)
"""Order of the rows of tricks: seat 1 sits at the top."""


def _badges(public: PokeView, seat: int) -> list[Badge]:
    badges = [Badge(f"legs {public.legs[seat]}", "good" if public.legs[seat] else "plain")]
    badges.append(Badge(f"below {public.below[seat]}", "plain"))
    if public.phase != "over":
        if public.dealer == seat:
            badges.append(Badge("dealer", "plain"))
        if doubled := _DOUBLED.get(public.multipliers[seat]):
            badges.append(Badge(doubled, "bad"))
    return badges


def _areas(public: PokeView, hands: Mapping[int, PokeView], seat: int) -> list[PrivateCards]:
    view = hands.get(seat)
    left = 0 if public.phase == "over" else _HAND - _played(public, seat)
    draws = () if public.phase == "over" else public.drawn
    laid = sum(drawn.cards for drawn in draws if drawn.seat == seat)
    opened = laid_open = None
    if view is not None:
        opened = face_up(view.hand) if left else CardGroup()
        laid_open = face_up(view.discards) if laid else CardGroup()
    return [
        PrivateCards("hand", "hand", seat, opened, CardGroup(backs=left)),
        PrivateCards("out", "discarded", seat, laid_open, CardGroup(backs=laid)),
    ]


def _played(public: PokeView, seat: int) -> int:
    """Return the number of hand cards that a seat has played."""
    played = sum(len(trick.lead) for trick in public.tricks)
    return played + (len(public.lead) if public.lead and seat == _leader(public) else 0)


def _leader(public: PokeView) -> int:
    return public.tricks[-1].winner if public.tricks else 1 - public.dealer


def _tricks(public: PokeView, players: Players) -> TrickTable:
    """Return the tricks of this deal; an unanswered lead is the last column."""
    tricks = () if public.phase == "over" else public.tricks
    fresh = len(tricks) - 1 if public.phase == "lead" else -1
    columns = [_column(trick, n == fresh) for n, trick in enumerate(tricks)]
    if public.lead:
        led = TrickCell(face_up(public.lead, FRESH), led=True, now=True)
        columns.append({_leader(public): led, 1 - _leader(public): TrickCell(now=True)})
    return _trick_table("tricks", "tricks", columns, players)


def _trick_table(
    key: str, label: str, columns: list[dict[int, TrickCell]], players: Players, note: str = ""
) -> TrickTable:
    cells = [[column[seat] for seat in _FACING] for column in columns]
    return trick_table(key, label, cells, [players.names[seat] for seat in _FACING], note)


def _column(trick: PokeTrick, fresh: bool) -> dict[int, TrickCell]:
    marks = (FRESH,) if fresh else ()
    answered = face_up(trick.answer, *marks)
    return {
        trick.leader: TrickCell(face_up(trick.lead, *marks), trick.winner == trick.leader, True),
        1 - trick.leader: TrickCell(answered, trick.winner != trick.leader),
    }


def _ended(public: PokeView, players: Players) -> TrickTable | CardLines:
    """Return the previous deal until the first action of the current one."""
    fresh = public.phase == "over" or not (public.drawn or public.tricks or public.lead)
    if not (public.deals and fresh):
        return CardLines("ended", "", ())
    deal = public.deals[-1]
    columns = [_column(trick, False) for trick in deal.tricks]
    gave = ", ".join(_gave(deal, seat, players.names[seat]) for seat in (0, 1))
    return _trick_table("ended", f"how deal {public.deal} ended", columns, players, gave)


def _gave(deal: PokeDeal, seat: int, name: str) -> str:
    above = f" and {deal.above[seat]} above" if deal.above[seat] else ""
    return f"{name} scores {deal.below[seat]} below{above}"


def _pad(public: PokeView, players: Players) -> ScoreTable:
    """Return the scores below and above the line, one row per deal."""
    heads = ("deal", *(f"{name}, {side}" for name in players.names for side in ("below", "above")))
    rows = [
        (
            f"{number}",
            *(str(value or "·") for s in (0, 1) for value in (deal.below[s], deal.above[s])),
        )
        for number, deal in enumerate(public.deals, public.deal - len(public.deals) + 1)
    ]
    now = [
        ("now", *(str(value) for s in (0, 1) for value in (public.below[s], public.above[s]))),
    ]
    return ScoreTable("scores", "score pad", heads, tuple(rows), tuple(now))


def _actions(drawn: Sequence[PokeDrawn], tricks: Sequence[PokeTrick]) -> Iterator[PublicAction]:
    for draw in drawn:
        yield PublicAction(draw.seat, _drawn(draw.cards) if draw.cards else "stands")
    for trick in tricks:
        yield PublicAction(trick.leader, f"leads {' '.join(trick.lead)}")
        yield PublicAction(1 - trick.leader, f"answers {' '.join(trick.answer)}")


def _drawn(number: int) -> str:
    return f"discards {number} card{'' if number == 1 else 's'} and draws as many"


def _price(view: PokeView) -> str:
    """Return what the next draw of the seat that draws costs (rules P-2.5 and P-2.6)."""
    others = [drawn.cards for drawn in view.drawn if drawn.seat != view.dealer]
    is_dealer = 0 in others or len(others) == NON_DEALER_DRAWS
    made = len(view.drawn) - len(others) if is_dealer else len(others) + 1
    return (
        "An exchange is free.",
        "An exchange makes the other player's tricks count twice.",
        "An exchange makes the other player's tricks count four times.",
    )[made]


class PokePresentation(Presentation):
    """Presentation of Poke."""

    clip = 2400
    seconds = 0.1
    demo_boards = 4
    target_rate = 55_000
    summary = "A poker hand that you may improve at a price; then the same cards take tricks."
    aim = (
        "The higher total above the line wins. Poker hands score there at once, and legs too: "
        "tricks below the line win a leg. The second leg won ends the game."
    )
    terms = (
        ("leg", "A part of a rubber, which ends when a player has 20 points below the line."),
        ("rubber", "The whole game, which ends when a player has won two legs."),
        ("below the line", "Points of tricks. They decide the leg."),
        ("above the line", "Points of hands, legs and the rubber. Their total decides the game."),
        ("doubled", "A player whose draw had a price: the opponent's tricks count twice."),
        ("redoubled", "Doubled a second time: the opponent's tricks count four times."),
        ("free draw", "The first draw of the dealer, which has no price."),
    )
    short_rules = """\
A deal: draw, five tricks, poker hands. Cards are rank then suit; ranks from 2 up to A.
- Draw: the non-dealer has up to two draws, then the dealer up to three. A draw discards 1 to 3
  cards and takes as many; to stand ends it. The non-dealer's first draw doubles and the second
  redoubles him; the dealer's first draw is free, the second doubles, the third redoubles him.
  It multiplies what the opponent's tricks score (1, 2 or 4).
- Tricks: the non-dealer leads first, then the winner of the last trick. A lead is 1 to 4 cards
  of one rank; the answer has as many cards and wins only if they are of one higher rank. Suits
  mean nothing. Every card counts as one trick.
- Below the line a player scores his tricks times the opponent's multiplier. Above the line: 250
  for all five tricks, and the better of the two hands held after the draw scores: pair 50, two
  pairs 100, three of a kind 200, straight 300, flush 400, full house 500, four of a kind 600,
  straight flush 750, royal flush 1000.
- A leg ends after a deal with 20 or more below the line and different totals: 100 above the
  line for the higher; both totals below go to 0. The second leg won ends the rubber: 750 more
  if the opponent won no leg, else 500. The higher total above the line wins the game."""

    tasks = (
        ("draw", "exchange cards, or stand"),
        ("lead", "lead one card, or several of one rank"),
        ("answer", "answer the lead with as many cards"),
    )
    hidden_cards = (("stock", "stock"),)

    def render(
        self, public: PokeView, hands: Mapping[int, PokeView], players: Players
    ) -> TableRendering:
        """Return the rendering of a position; a chapter is a deal."""
        over = public.phase == "over"
        chapter = public.deal - over
        phase = "the rubber is over" if over else _ASKED[public.phase]
        facts = [] if public.must_beat else ["a winning answer need not be given"]
        return TableRendering(
            chapter=chapter,
            heading=f"Deal {chapter + 1} · {phase}",
            facts=tuple(facts),
            seats=tuple(
                players.seat(seat, _badges(public, seat), _areas(public, hands, seat))
                for seat in (0, 1)
            ),
            centre=(_ended(public, players), _tricks(public, players)),
            below=(_pad(public, players),),
        )

    def scores(self, public: PokeView, seats: int) -> tuple[int, ...]:
        return public.above

    def phrase(self, action: Action) -> str:
        match action:
            case Draw(discards):
                return f"discards {' '.join(discards)} and draws {len(discards)}"
            case Lead(cards):
                return f"leads {' '.join(cards)}"
            case Answer(cards):
                return f"answers {' '.join(cards)}"
        return "stands"

    def public_phrase(self, action: Action) -> str:
        if not isinstance(action, Draw):
            return ""
        return _drawn(len(action.discards))

    def history(self, public: PokeView) -> Sequence[PublicAction]:
        deals = [[*_actions(deal.drawn, deal.tricks)] for deal in public.deals]
        if public.phase != "over":
            deals.append([*_actions(public.drawn, public.tricks)])
            if public.lead:
                deals[-1].append(PublicAction(_leader(public), f"leads {' '.join(public.lead)}"))
        return PublicAction.numbered(deals)

    def remark(self, view: PokeView) -> str:
        if view.phase == "draw":
            return _price(view)
        if view.phase == "lead":
            return "A lead wins unless the answer has as many cards of one higher rank."
        if not can_beat(view.hand, view.lead):
            return "You cannot beat the lead, so you may give up any cards."
        must = "so you must: only higher cards may be played"
        return f"You can beat the lead, {must if view.must_beat else 'but you need not'}."

    def rules_now(self, view: PokeView) -> Sequence[str]:
        if view.phase == "draw":
            return ("P-2", "P-5.1", "P-5.3")
        return ("P-3", "P-4") if view.phase == "answer" else ("P-3", "P-5.1", "P-5.2")


PRESENTATION = PokePresentation
