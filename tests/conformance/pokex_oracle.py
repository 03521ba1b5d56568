"""The oracle of Pokex: where its cards are, and possible histories of a hand."""

from collections.abc import Sequence
from typing import Any

from referee.game_checks.random_games import Step
from referee.games.contract import State
from referee.games.shared.cards import DECK_WITH_JOKERS
from referee.games.shared.dealing import Arranged
from tests.conformance.oracle import GameHistory, Oracle, Part


class PokexOracle(Oracle):
    def cards(self, state: Any) -> list[str]:
        held = [c for hand in state.hands for c in hand]
        played = [c for seat in range(state.seats) for c in self.played_by(state, seat)]
        return [*held, *played, *(state.row or state.centre), *state.aside]

    @staticmethod
    def played_by(state: Any, seat: int) -> list[str]:
        """Return the cards that a seat has played in this deal."""
        played = [*(play for trick in state.tricks for play in trick.played), *state.played]
        return [c for play in played if play.seat == seat for c in play.cards]

    def hidden(self, state: Any, seat: int | None) -> dict[str, Part]:
        """Return the other hands, the cards set aside or not turned up, and the next deals."""
        mine = 0 if seat is None else seat
        others = {
            f"{on} on": state.hands[(mine + on) % state.seats]
            for on in range(seat is not None, state.seats)
        }
        luck, deal = state.luck, len(state.deals)
        later = [*luck.shuffled("deck", deal + 1, DECK_WITH_JOKERS)]
        order: tuple[str, ...] = ()
        if state.seats == 2:
            later += luck.shuffled("centre", deal + bool(state.row), range(12))
            order = state.row[2 * len(state.tricks) + len(state.turned) :]
        return {**others, "aside": state.aside, "order": order, "later": tuple(later)}

    def story(self, played: Sequence[Step], dealt: State, seat: int | None) -> GameHistory:
        """Change the pack of the last deal and the order of its centre."""
        first: Any = played[0].state
        last: Any = dealt
        deal = len(last.deals) - (last.phase == "over")
        pack = [
            c
            for other in range(last.seats)
            for c in (*last.hands[other], *self.played_by(last, other))
        ]
        orders: dict[tuple[str, int], Any] = {("deck", deal): [*pack, *last.centre, *last.aside]}
        if last.row and last.seats == 2:
            orders["centre", deal] = last.row
        luck = Arranged({("dealer", 0): first.dealer}, orders, otherwise=first.luck)
        return GameHistory(luck, [step.moves for step in played[:-1]])
