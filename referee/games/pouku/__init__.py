"""Pouku (docs/rules/pouku.md): poker's sets, made and won as in mahjong."""

from collections.abc import Mapping
from dataclasses import fields
from typing import ClassVar

from referee.games.contract import Game, Option, Options, SetupError
from referee.games.pouku.actions import Discard, Give, GoOut, PoukuView
from referee.games.pouku.from_view import seen
from referee.games.pouku.state import PoukuForm, PoukuState
from referee.games.pouku.yaku import Values
from referee.games.shared.cards import DECK
from referee.games.shared.dealing import Chance


def form_of(seats: int, options: Options) -> PoukuForm:
    """Return the parameters of the game for these options."""
    values = Values(**{field.name: int(options[field.name]) for field in fields(Values)})
    teams, reference = bool(options["teams"]), str(options["reference"])
    return PoukuForm(seats, teams, reference, values, int(options["points"]))


class Pouku(Game):
    """Pouku's entry in the registry."""

    id = "pouku"
    title = "Pouku"
    seats = (3, 4)
    options: ClassVar[Mapping[str, Option]] = {
        "teams": Option(False, "Four play two against two."),
        "reference": Option(
            "right", "Four refer to the two seats after their own, or before it.", ("right", "left")
        ),
        "pair": Option(1, "What a pair is worth."),
        "three": Option(3, "What three of a kind are worth."),
        "straight": Option(2, "What a straight of four is worth; each further card is worth 1."),
        "four": Option(7, "What four of a kind are worth."),
        "point": Option(2, "What a card of the point card's rank is worth."),
        "four_yaku": Option(1, "What four yaku or more are worth besides."),
        "first_turn": Option(1, "What going out on the first turn is worth besides."),
        "points": Option(
            0,
            "Starting points: the game ends when a seat has none. 0: after two rounds of dealers.",
            later=True,
        ),
    }
    view_type = PoukuView
    action_types = (GoOut, Discard, Give)

    def check_seats(self, seats: int, options: Options) -> None:
        """Check the number of seats; teams require four.

        Raises:
            SetupError: the number of seats is not allowed.
        """
        super().check_seats(seats, options)
        if options["teams"] and seats != 4:
            raise SetupError(f"pouku with teams needs 4 seats, not {seats}", code="seats")

    def check_new(self, seats: int, options: Options) -> None:
        """Check a new match: with three seats, the option `reference` has no effect.

        Raises:
            SetupError: the number of seats or the reference is not allowed.
        """
        self.check_seats(seats, options)
        if seats == 3 and options["reference"] == "left":
            raise SetupError(
                "option reference of pouku has no effect with 3 seats, because everyone refers to "
                "both other fields; leave it out, or choose 4 seats",
                code="no-effect",
            )

    def sides(self, seats: int, options: Options) -> tuple[int, ...]:
        return (0, 1, 0, 1) if options["teams"] else tuple(range(seats))

    def _start(self, luck: Chance, seats: int, options: Options) -> PoukuState:
        form = form_of(seats, options)
        empty = PoukuState(
            luck=luck,
            form=form,
            deals=(),
            totals=(form.points,) * seats,
            dealer=0,
            turn=0,
            point_card=DECK[0],
            stock=(),
            hands=((),) * seats,
            drawn="",
            fields=((),) * seats,
            kept=((),) * seats,
            turns=(),
        )
        return empty.dealt(luck.below("dealer", 0, seats))

    def from_view(
        self, view: PoukuView, seat: int | None, options: Options, luck: Chance
    ) -> PoukuState:
        return seen(view, seat, form_of(len(view.scores), options), luck)
