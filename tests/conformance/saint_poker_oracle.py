"""The oracle of Saint Poker: where its cards are, and possible histories of a hand."""

from collections.abc import Sequence
from typing import Any

from referee.game_checks.random_games import Step
from referee.games.contract import State
from referee.games.shared.dealing import Arranged
from tests.conformance.oracle import GameHistory, Oracle, Part


class SaintPokerOracle(Oracle):
    def cards(self, state: Any) -> list[str]:
        """Return all 52 cards, including those that have left the game."""
        gone = [c for done in state.rounds for c in done.discards]
        hands = [c for hand in state.hands for c in hand]
        return [*gone, *hands, *state.lying, *state.future, *state.stock]

    def hidden(self, state: Any, seat: int | None) -> dict[str, Part]:
        """Return the others' initial cards, the stock, and later tie breaks."""
        others = [other for other in range(state.seats) if other != seat]
        next_round = state.round + bool(state.order)
        ties = [state.luck.shuffled("ties", r, range(state.seats)) for r in range(next_round, 9)]
        hands: dict[str, Part] = {f"hand {s}": tuple(self.unseen(state, s)) for s in others}
        return {**hands, "stock": state.stock, "later": tuple(ties)}

    @staticmethod
    def unseen(state: Any, seat: int) -> list[str]:
        """Return the initial cards of a hand: all except those picked up."""
        taken = {
            picked.card
            for done in (*(done.picked for done in state.rounds), state.picked)
            for picked in done
            if picked.seat == seat
        }
        return [c for c in state.hands[seat] if c not in taken]

    def story(self, played: Sequence[Step], dealt: State, seat: int | None) -> GameHistory:
        """Change the others' unseen cards and the stock."""
        first: Any = played[0].state
        last: Any = played[-1].state
        after: Any = dealt
        pack: list[str] = []
        for other, hand in enumerate(first.hands):
            if other == seat:
                pack += hand
                continue
            kept = set(self.unseen(last, other))
            pack += [c for c in hand if c not in kept]
            pack += self.unseen(after, other)
        middle = [*first.river, *first.future, *first.stock]
        pack += middle[: len(middle) - len(after.stock)]
        pack += after.stock
        luck = Arranged(orders={("deck", 0): pack}, otherwise=first.luck)
        return GameHistory(luck, [step.moves for step in played[:-1]])
