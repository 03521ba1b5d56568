"""The parameters of strength."""

import math
from dataclasses import dataclass
from typing import Literal

FARTHEST = 4000.0
"""The farthest apart that anchors and centre may be: ten thousand million to one."""

Weighting = Literal["pairs", "matches"]


@dataclass(frozen=True, slots=True)
class StrengthSettings:
    """The parameters of the fit, to be shown wherever strengths are shown.

    centre: the mean strength in Elo points, where no anchors say otherwise: of the largest group
        linked by meetings, each entrant weighted by its matches, so that a newcomer of whom
        little is known neither moves the others nor widens their intervals.
    prior: the standard deviation, in Elo points, of how strengths are expected to lie around their
        mean before anything is played. Infinite is no prior: plain maximum likelihood.
    anchors: entrants fixed at a value, as (name, Elo points): frozen house bots, so that strengths
        of different times can be compared.
    weighting: "pairs", the headline: every two entrants count alike, however often they met; none
        counts for more matches than the median pair has played. So nobody gains by being paired
        often with whom he happens to beat, and the adaptive half of a schedule does not decide
        what is measured. "matches": every match counts alike.
    provisional: an entrant is provisional while half its interval is wider than this.

    Raises ValueError if a number is not one that makes sense.
    """

    centre: float = 1200.0
    prior: float = 600.0
    anchors: tuple[tuple[str, float], ...] = ()
    weighting: Weighting = "pairs"
    provisional: float = 100.0

    def __post_init__(self) -> None:
        if not self.prior > 0:
            raise ValueError(f"the prior of strengths must be positive, not {self.prior}")
        if not self.provisional > 0:
            raise ValueError(f"the provisional width must be positive, not {self.provisional}")
        if not all(math.isfinite(value) for value in (self.centre, *dict(self.anchors).values())):
            raise ValueError("the centre and the anchors of strengths must be finite numbers")
        fixed = [self.centre, *dict(self.anchors).values()]
        if max(fixed) - min(fixed) > FARTHEST:
            raise ValueError(
                f"the anchors and the centre of strengths may be {FARTHEST:.0f} apart at the most, "
                f"not {max(fixed) - min(fixed):.0f}"
            )
        if len(dict(self.anchors)) < len(self.anchors):
            raise ValueError("an entrant can be anchored at one strength only")
        if self.weighting not in ("pairs", "matches"):
            raise ValueError(f"strengths are weighted by pairs or matches, not {self.weighting!r}")

    def to_json(self) -> dict[str, object]:
        """Return the settings as plain values; an infinite prior is None."""
        return {
            "centre": self.centre,
            "prior": self.prior if math.isfinite(self.prior) else None,
            "anchors": dict(self.anchors),
            "weighting": self.weighting,
            "provisional": self.provisional,
        }
