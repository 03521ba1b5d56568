"""Present Pouku: fields and keeps, the point card, the results of deals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from referee.games.contract import Action
from referee.games.pouku.actions import Discard, Give, PoukuDeal, PoukuTurn, PoukuView
from referee.games.pouku.scores import GoingOut, payment
from referee.games.pouku.state import NEEDED, NEEDED_IN_TEAMS, is_over, most_deals
from referee.games.pouku.yaku import Values
from referee.games.shared.cards import Card
from referee.presentation.contract import Presentation
from referee.presentation.elements import (
    FRESH,
    POINT,
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
    signed,
)


def _is_over(view: PoukuView) -> bool:
    return is_over(view.deal, view.scores, view.points)


def _facts(public: PoukuView) -> Iterator[str]:
    if not _is_over(public):
        yield f"{public.stock} cards in the stock"
    if public.points:
        yield f"everyone began with {public.points} points; the game ends when a seat has none"


def _badges(public: PoukuView, seat: int, over: bool) -> list[Badge]:
    return [Badge("dealer", "plain")] if seat == public.dealer and not over else []


def _lay(public: PoukuView, cards: Iterable[Card], *fresh: str) -> tuple[FaceUpCard, ...]:
    """Return cards face up with marks on fresh cards and on the point card's rank."""
    rank = public.point_card[0]
    return tuple(
        FaceUpCard(card, (POINT,) * (card[0] == rank) + (FRESH,) * (card in fresh))
        for card in cards
    )


def _areas(
    public: PoukuView, hands: Mapping[int, PoukuView], seat: int
) -> list[OpenCards | PrivateCards]:
    view = hands.get(seat)
    opened = None
    if view is not None:
        note = _stakes(view, seat)
        opened = CardGroup(_lay(public, view.hand, view.drawn), note=note)
    last = public.turns[-1] if public.turns else None
    laid = (last.discard,) if last and last.field == seat else ()
    kept = last.keep if last and last.seat == seat else ()
    return [
        PrivateCards("hand", "hand", seat, opened, CardGroup(backs=public.hand_sizes[seat])),
        OpenCards("field", "field", CardGroup(_lay(public, public.fields[seat].cards, *laid))),
        OpenCards("kept", "kept", CardGroup(_lay(public, public.kept[seat].cards, *kept))),
    ]


def _stakes(view: PoukuView, seat: int) -> str:
    """Return a seat's payment when another one goes out, and the worth of going out itself."""
    seats = len(view.fields)
    partner = (seat + 2) % seats
    kept = view.kept[seat].cards or (view.kept[partner].cards if view.teams else ())
    fields = tuple(card for other in view.reference for card in view.fields[other].cards)
    values = Values(
        view.pair, view.three, view.straight, view.four, view.point, view.four_yaku, view.first_turn
    )
    if _is_over(view):
        return ""
    owed = payment(values, seats, view.teams, fields, kept, view.point_card)
    risk = f"risks {owed}"
    if seat != view.turn:
        return risk
    if view.worth:
        return f"may go out for {view.worth} · {risk}"
    best = GoingOut(values, view.hand, fields, kept, view.point_card).worth()
    needed = NEEDED_IN_TEAMS if view.teams else NEEDED
    return f"worth {best}, needs {needed} to go out · {risk}"


def _ended(public: PoukuView, players: Players) -> CardLines:
    """Return the previous deal until every seat has had a turn in the current one."""
    is_shown = _is_over(public) or len(public.turns) < len(public.fields)
    if not public.deals or not is_shown:
        return CardLines("ended", "", ())
    deal = public.deals[-1]
    label = f"how deal {public.deal} ended"
    if deal.void:
        return CardLines("ended", label, (), "The stock was empty: nobody scores or pays.")
    rank = deal.point_card[0]
    rows = [
        (
            f"{yaku.name} {yaku.worth}",
            CardGroup(tuple(FaceUpCard(c, (POINT,) * (c[0] == rank)) for c in yaku.cards)),
        )
        for yaku in deal.yaku
    ]
    rows.append(("point card", CardGroup((FaceUpCard(deal.point_card, (POINT,)),))))
    return CardLines("ended", label, tuple(rows), _gave(deal, players))


def _gave(deal: PoukuDeal, players: Players) -> str:
    """Return who went out, the value of the hand, and the points of each seat as text."""
    more = deal.worth - sum(yaku.worth for yaku in deal.yaku)
    besides = f", {more} of it for points and bonuses" if more else ""
    doubled = ", doubled" if deal.points[deal.winner] > deal.worth else ""
    gains = " · ".join(
        f"{name} {signed(points)}" for name, points in zip(players.names, deal.points, strict=True)
    )
    return f"{players.names[deal.winner]} went out, worth {deal.worth}{besides}{doubled}. {gains}"


def _pad(public: PoukuView, players: Players) -> ScoreTable:
    """Return the points of each seat, one row per deal."""
    rows = tuple(
        (str(number), _winner(deal, players), *map(signed, deal.points))
        for number, deal in enumerate(public.deals, public.deal - len(public.deals) + 1)
    )
    shown = str if public.points else signed
    foot = ("points" if public.points else "score", "", *map(shown, public.scores))
    return ScoreTable("scores", "score", ("deal", "went out", *players.names), rows, (foot,))


def _winner(deal: PoukuDeal, players: Players) -> str:
    return "void" if deal.void else f"{players.names[deal.winner]} {deal.worth}"


def _turns(turns: Iterable[PoukuTurn]) -> Iterator[PublicAction]:
    for turn in turns:
        yield PublicAction(
            turn.seat, _discarded(turn.discard, turn.keep, given=turn.field != turn.seat)
        )


def _discarded(card: str, keep: Sequence[str], *, given: bool) -> str:
    discarded = f"gives {card} to the teammate's field" if given else f"discards {card}"
    return f"keeps {' '.join(keep)} and {discarded}" if keep else discarded


class PoukuPresentation(Presentation):
    """Presentation of Pouku."""

    clip = 100
    seconds = 0.4
    summary = (
        "Combine the cards of your hand with the open cards of your neighbours, and go out first."
    )
    aim = (
        "Go out before the others: you score what your combinations are worth, and they pay. The "
        "highest total after all deals wins."
    )
    terms = (
        ("yaku", "A combination that scores: pair, three or four of a kind, straight."),
        ("field", "The open cards in front of a player."),
        ("reference fields", "The fields of other players whose cards a player may use."),
        ("worth", "What your hand scores together with the fields that you refer to."),
        ("risks", "What you pay if another player goes out before you."),
        ("point card", "The card in the middle. Every card of its rank is worth 2 more."),
        (
            "keep",
            "Laying a card of the hand aside with open cards of others as a yaku, once a deal.",
        ),
        ("going out", "Ending the deal with yaku that are worth 5 or more."),
    )
    short_rules = """\
Collect combinations (yaku) from your hand and the fields of the seats you refer to, and go out.
Suits mean nothing; ranks from 2 up to A, and the ace is also low in a straight.
- A turn begins with a drawn card. Then go out, or discard one card open to your own field; once
  a deal you may before that keep: lay aside one card of the hand with field cards of others as
  one yaku.
- Yaku: pair, three of a kind, four of a kind, straight of four or more. Every card of the point
  card's rank counts too. The options give the values.
- Going out needs a set worth 5 or more (8 in teams, without the bonus of the first turn). The
  winner scores its worth, doubled from 8 on (never in teams). Your own field does not count for
  you.
- When somebody goes out, every other seat pays twice what its reference fields alone are worth,
  and for its kept yaku. In teams, only the losing team's kept yaku is paid.
- If the stock is empty the deal is void. The highest total after all deals wins."""
    hidden_cards = (("stock", "stock"),)
    control_areas = ("hand", "field")

    def render(
        self, public: PoukuView, hands: Mapping[int, PoukuView], players: Players
    ) -> TableRendering:
        """Return the rendering of a position; a chapter is a deal."""
        seats = range(len(players.names))
        deals = most_deals(len(players.names), public.points)
        over = _is_over(public)
        chapter = public.deal - over
        phase = "the game is over" if over else f"{players.names[public.turn]} has drawn"
        point = CardGroup((FaceUpCard(public.point_card, (POINT,)),))
        return TableRendering(
            chapter=chapter,
            heading=f"Deal {chapter + 1} of {'at most ' * (public.points > 0)}{deals} · {phase}",
            facts=tuple(_facts(public)),
            seats=tuple(
                players.seat(seat, _badges(public, seat, over), _areas(public, hands, seat))
                for seat in seats
            ),
            centre=(
                _ended(public, players),
                OpenCards("point", "point card", CardGroup() if over else point),
            ),
            below=(_pad(public, players),),
        )

    def phrase(self, action: Action) -> str:
        match action:
            case Discard(card, keep):
                return _discarded(card, keep, given=False)
            case Give(card, keep):
                return _discarded(card, keep, given=True)
        return "goes out"

    def history(self, public: PoukuView) -> Sequence[PublicAction]:
        deals = [
            [*_turns(deal.turns), *(PublicAction(deal.winner, "goes out"),) * (not deal.void)]
            for deal in public.deals
        ]
        return PublicAction.numbered([*deals, [] if _is_over(public) else _turns(public.turns)])

    def task(self, view: PoukuView) -> str:
        return "go out or discard a card" if view.worth else "discard a card"

    def remark(self, view: PoukuView) -> str:
        if view.worth:
            return f"You may go out now, worth {view.worth}, or discard and hope for more."
        return "A discarded card lies open in your field, where others may use it."

    def rules_now(self, view: PoukuView) -> Sequence[str]:
        keep = ("U-5",) if view.may_keep else ()
        return ("U-3.3", "U-4", *keep, "U-2", "U-6", *(("U-7",) if view.teams else ()))


PRESENTATION = PoukuPresentation
