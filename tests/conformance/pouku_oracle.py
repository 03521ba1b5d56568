"""The oracle of Pouku: where its cards are, and possible histories of a hand."""

from collections.abc import Sequence
from typing import Any

from referee.game_checks.random_games import Step
from referee.games.contract import State
from referee.games.shared.cards import DECK
from referee.games.shared.dealing import Arranged
from tests.conformance.oracle import GameHistory, Oracle, Part


class PoukuOracle(Oracle):
    def cards(self, state: Any) -> list[str]:
        lying = [c for cards in (*state.hands, *state.fields, *state.kept) for c in cards]
        return [state.point_card, *lying, *state.stock]

    def hidden(self, state: Any, seat: int | None) -> dict[str, Part]:
        """Return the hands that the seat has not seen, the stock, and the next deal."""
        unseen = [s for s in range(len(state.hands)) if s not in self.seen(state, seat)]
        return {
            **{f"hand {s}": state.hands[s] for s in unseen},
            "stock": state.stock,
            "later": state.luck.shuffled("deck", len(state.deals) + 1, DECK),
        }

    @staticmethod
    def over(state: Any) -> bool:
        return not state.actors

    def seen(self, state: Any, seat: int | None) -> set[int | None]:
        """Return the seats with hands that a seat has seen: its own, and finally the winner's."""
        shown = self.over(state) and not state.deals[-1].void
        return {seat, state.deals[-1].winner} if shown else {seat}

    def deal_of(self, state: Any) -> int:
        return len(state.deals) - self.over(state)

    def story(self, played: Sequence[Step], dealt: State, seat: int | None) -> GameHistory:
        """Change the pack of the last deal.

        A seat with an unseen hand discarded each card that it had just drawn.
        """
        after: Any = dealt
        deal = self.deal_of(dealt)
        cwd: list[Any] = [step for step in played if self.deal_of(step.state) == deal]
        as_it_was = self.seen(dealt, seat)
        drawn = []
        for step in cwd:
            acts = step.state.turn
            if step is cwd[-1]:
                drawn += [after.drawn] if after.drawn else []
            elif acts in as_it_was:
                drawn.append(step.state.drawn)
            else:
                drawn.append(step.moves[acts].card)
        pack = [after.point_card]
        for other, hand in enumerate(cwd[0].state.hands):
            if other in as_it_was:
                dealing = other == after.dealer
                pack += [c for c in hand if not dealing or c != cwd[0].state.drawn]
                continue
            acts = other == after.turn
            pack += [c for c in after.hands[other] if not acts or c != after.drawn]
            pack += self.shown(cwd, other)
        pack += [c for field in cwd[0].state.fields for c in field]
        pack += [*drawn, *after.stock]
        first: Any = played[0].state
        luck = Arranged({("dealer", 0): first.dealer}, {("deck", deal): pack}, first.luck)
        return GameHistory(luck, [step.moves for step in played[:-1]])

    @staticmethod
    def shown(cwd: Sequence[Any], seat: int) -> list[str]:
        """Return the cards of its initial hand that a seat kept in this deal."""
        kept = [
            (step.state.hands[seat], step.moves[seat].keep)
            for step in cwd[:-1]
            if seat in step.moves
        ]
        return [c for hand, keep in kept for c in keep if c in hand]
