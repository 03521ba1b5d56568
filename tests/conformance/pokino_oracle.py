"""The oracle of Pokino: where its cards and dominoes are, and possible histories of hands."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from referee.game_checks.random_games import Step
from referee.games.contract import Action, State
from referee.games.pokino.actions import Domino, Run
from referee.games.shared.dealing import Arranged
from tests.conformance.oracle import GameHistory, Oracle, Part

FEW = 4
"""With at most this number of cards or dominoes left to draw, a re-deal often changes nothing."""


class PokinoOracle(Oracle):
    ordered: ClassVar[frozenset[type]] = frozenset({Run})

    def usual(self, action: Action) -> Action:
        """Return a double with the left or upper half first; both orientations are one action."""
        match action:
            case Domino(domino, x, y, "left", draw) if len(set(domino.split("-"))) == 1:
                return Domino(domino, x - 1, y, "right", draw)
            case Domino(domino, x, y, "up", draw) if len(set(domino.split("-"))) == 1:
                return Domino(domino, x, y - 1, "down", draw)
        return action

    def cards(self, state: Any) -> list[str]:
        cards = [c for hand in state.hands for c in hand] + list(state.deck)
        cards += [c for run in state.runs for c in run.cards]
        dominoes = [d for held in state.dominoes for d in held] + list(state.poke)
        dominoes += [tile.domino for tile in state.layout.tiles] + list(state.removed)
        return cards + dominoes

    def hidden(self, state: Any, seat: int | None) -> dict[str, Part]:
        """Return the others' initial cards that they still hold, and the face-down cards and
        dominoes.

        Near the end of the deck a seat can infer the others' cards from the cards it has not seen.
        The last few cards or dominoes are therefore one part with the chance source, which
        always changes.
        """
        others = [other for other in range(len(state.hands)) if other != seat]
        cards: dict[str, Part] = {
            f"hand {s}": tuple(c for c in state.hands[s] if c not in state.known[s]) for s in others
        }
        cards["deck"] = state.deck[1:]
        dominoes: dict[str, Part] = {f"dominoes {s}": state.dominoes[s] for s in others}
        dominoes["poke"] = state.poke
        few = cards if len(state.deck) <= FEW else {}
        few = few | (dominoes if len(state.poke) <= FEW else {})
        many = {name: part for name, part in (cards | dominoes).items() if name not in few}
        return many | {"last": (state.luck, *few.values())}

    def story(self, played: Sequence[Step], dealt: State, seat: int | None) -> GameHistory:
        """Change the hidden cards and dominoes that the others still hold, and those not yet
        drawn."""
        first: Any = played[0].state
        luck = Arranged(
            orders={
                ("deck", 0): self._deck(played, dealt, seat),
                ("dominoes", 0): self._pile(played, dealt, seat),
            },
            otherwise=first.luck,
        )
        return GameHistory(luck, [step.moves for step in played[:-1]])

    @staticmethod
    def _deck(played: Sequence[Step], dealt: Any, seat: int | None) -> list[str]:
        """Return the cards in the order of the deal; cards that were not played are the re-dealt
        ones."""
        first: Any = played[0].state
        deck: list[str] = []
        shown = {c for run in dealt.runs for c in run.cards}
        for other, hand in enumerate(first.hands):
            kept = iter([c for c in dealt.hands[other] if c not in dealt.known[other]])
            deck += [c if other == seat or c in shown else next(kept) for c in hand]
        drawn = len(first.deck) - len(dealt.deck)
        return [*deck, *first.deck[:drawn], *dealt.deck]

    def _pile(self, played: Sequence[Step], dealt: Any, seat: int | None) -> list[str]:
        """Return the dominoes in the order of deal and draws.

        Dominoes that were not laid are the re-dealt ones.
        """
        first: Any = played[0].state
        kept = [iter(held) for held in dealt.dominoes]
        shown = {tile.domino for tile in dealt.layout.tiles} | set(dealt.removed)
        pile = [
            d if other == seat or d in shown else next(kept[other])
            for other, held in enumerate(first.dominoes)
            for d in held
        ]
        pile += [tile.domino for tile in first.layout.tiles]
        for other, domino in zip(self._drawers(played), first.poke, strict=False):
            pile.append(domino if other == seat or domino in shown else next(kept[other]))
        return [*pile, *dealt.poke]

    @staticmethod
    def _drawers(played: Sequence[Step]) -> Iterator[int]:
        """Yield the seat that drew each domino of the poke, in order."""
        for step in played[:-1]:
            for seat, action in step.moves.items():
                if isinstance(action, Domino):
                    yield seat
