"""Legal actions of Pouku: one decision per turn (docs/rules/pouku.md, U-3, U-4, U-5)."""

from collections.abc import Iterator
from dataclasses import dataclass

from referee.games.contract import Action, Legal
from referee.games.pouku.actions import Discard, Give, GoOut
from referee.games.pouku.keeps import Fields, is_keep, keeps
from referee.games.pouku.scores import GoingOut
from referee.games.shared.cards import Hand


@dataclass(frozen=True, slots=True)
class PoukuTurns(Legal):
    """Discard, discard after a keep, or go out; the most harmless actions come first."""

    hand: Hand
    fields: Fields
    """Fields whose cards may be kept, by seat; all empty if a keep is not allowed."""
    teams: bool
    offer: GoingOut
    needed: int
    """Points required to go out."""

    def __contains__(self, action: object) -> bool:
        match action:
            case Discard(card, keep):
                return self._may_discard(card, keep)
            case Give(card, keep):
                return self.teams and self._may_discard(card, keep)
            case GoOut():
                return self.offer.reaches(self.needed)
        return False

    def _may_discard(self, card: str, keep: Hand) -> bool:
        if card not in self.hand or card in keep:
            return False
        return not keep or is_keep(keep, self.hand, self.fields)

    @property
    def complete(self) -> bool:
        """Return whether all keeps are listed."""
        return keeps(self.hand, self.fields)[1]

    def __iter__(self) -> Iterator[Action]:
        kinds = (Discard, Give) if self.teams else (Discard,)
        for kind in kinds:
            for card in self.hand:
                yield kind(card)
        listed, _ = keeps(self.hand, self.fields)
        for keep in listed:
            for kind in kinds:
                for card in self.hand:
                    if card != keep[0]:
                        yield kind(card, keep)
        if self.offer.reaches(self.needed):
            yield GoOut()
