"""The oracle of Poke: where its cards are, and possible histories of a hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from referee.game_checks.random_games import Step
from referee.games.contract import State
from referee.games.poke.actions import Draw
from referee.games.poke.state import PokeState
from referee.games.shared.cards import DECK
from referee.games.shared.dealing import Arranged
from tests.conformance.oracle import GameHistory, Oracle, Part


@dataclass(frozen=True)
class Hand:
    """A seat's initial cards in a deal, and for each draw the cards discarded and drawn."""

    dealt: list[str]
    draws: list[tuple[list[str], list[str]]]


class PokeOracle(Oracle):
    def cards(self, state: Any) -> list[str]:
        tricks = [c for trick in state.tricks for c in (*trick.lead, *trick.answer)]
        hands = [c for hand in (*state.hands, *state.discards) for c in hand]
        return [*tricks, *hands, *state.led, *state.stock]

    def hidden(self, state: Any, seat: int | None) -> dict[str, Part]:
        """Return the others' hands and discards, the stock, and the next deal."""
        later = state.luck.shuffled("deck", len(state.deals) + 1, DECK)
        parts: dict[str, Part] = {"stock": state.stock, "later": later}
        for other in self.others(seat):
            parts[f"hand {other}"] = state.hands[other]
            parts[f"discards {other}"] = state.discards[other]
        return parts

    @staticmethod
    def others(seat: int | None) -> list[int]:
        return [other for other in (0, 1) if other != seat]

    def story(self, played: Sequence[Step], dealt: State, seat: int | None) -> GameHistory:
        """Change the pack of the last deal and the others' discards in it."""
        assert isinstance(dealt, PokeState)
        deal = self.deal_of(dealt)
        cwd = [step for step in played if self.deal_of(step.state) == deal]
        others = self.others(seat)
        hands = [self.imagined(dealt, s) if s in others else self.as_it_was(cwd, s) for s in (0, 1)]
        first = played[0].state
        assert isinstance(first, PokeState)
        pack = [*hands[0].dealt, *hands[1].dealt]
        for drawer in (1 - dealt.dealer, dealt.dealer):
            pack += [c for _, got in hands[drawer].draws for c in got]
        pack += dealt.stock
        numbers = {("dealer", 0): first.dealer}
        luck = Arranged(numbers, {("deck", deal): pack}, otherwise=first.luck)
        given = {other: iter([gave for gave, _ in hands[other].draws]) for other in others}
        turns = []
        for step in played[:-1]:
            moves = dict(step.moves)
            for other in others:
                if self.deal_of(step.state) == deal and isinstance(moves.get(other), Draw):
                    moves[other] = Draw(tuple(next(given[other])))  # type: ignore[arg-type]
            turns.append(moves)
        return GameHistory(luck, turns)

    @staticmethod
    def deal_of(state: Any) -> int:
        over: bool = state.phase == "over"
        return len(state.deals) - over

    @staticmethod
    def as_it_was(cwd: Sequence[Step], seat: int) -> Hand:
        """Return the history of a seat's hand in the original deal."""
        states: list[Any] = [step.state for step in cwd]
        draws = []
        for step, after in zip(cwd, states[1:], strict=False):
            move = step.moves.get(seat)
            if isinstance(move, Draw):
                kept = set(step.state.hands[seat]) - set(move.discards)  # type: ignore[attr-defined]
                draws.append((list(move.discards), sorted(set(after.hands[seat]) - kept)))
        return Hand(list(states[0].hands[seat]), draws)  # type: ignore[arg-type]

    @staticmethod
    def imagined(dealt: Any, seat: int) -> Hand:
        """Construct a possible history of a hand.

        The seat drew the cards that are now the lowest of the hand. The loop goes backwards
        through the seat's draws and exchanges the drawn cards for discards.
        """
        held = [*dealt.hands[seat]]
        for trick in dealt.tricks:
            held += trick.lead if trick.leader == seat else trick.answer
        if dealt.turn != seat:
            held += dealt.led
        held.sort()
        gone = list(dealt.discards[seat])
        draws: list[tuple[list[str], list[str]]] = []
        for drawn in reversed([drawn for drawn in dealt.drawn if drawn.seat == seat]):
            if drawn.cards:
                got, held = held[: drawn.cards], held[drawn.cards :]
                gave, gone = gone[-drawn.cards :], gone[: -drawn.cards]
                held += gave
                draws.insert(0, (gave, got))
        return Hand(held, draws)
