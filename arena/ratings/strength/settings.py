"""The parameters of the fit of strengths."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from referee.games.shared.coded_errors import InvalidValue

FARTHEST = 4000.0
"""Maximum difference between anchors and centre in Elo points: odds of 10 ** 10 to one."""

Weighting = Literal["random-effects", "pairs", "matches"]


@dataclass(frozen=True, slots=True)
class StrengthSettings:
    """The parameters of the fit, to be shown wherever strengths are shown.

    Attributes:
        centre: the mean strength in Elo points, without anchors. It is the mean of the largest
            group connected by matches, weighted by matches. Therefore a newcomer with few matches
            neither shifts the others nor widens their intervals.
        prior: standard deviation, in Elo points, of the prior distribution of strengths around
            their mean.
        anchors: entrants with fixed values, as (name, Elo points). Frozen house bots make strengths
            of different times comparable.
        loose_anchors: entrants with a prior of their own, as (name, Elo points, standard deviation
            in Elo points), for strengths that are known approximately, as in Ordo.
        weighting: "random-effects" (the default): the deviations of pairs from the strengths are
            estimated from the results, and the matches of frequent pairs weigh less the larger the
            deviations are (`arena.ratings.strength.misfit.pair_weights`). Therefore frequent
            pairings with an opponent that an entrant happens to beat do not dominate, and no
            information is discarded if strengths explain the results. "pairs": a pair counts for at
            most as many matches as the median pair, as in versions up to 0.2. "matches": all
            matches have equal weight.
        provisional: an entrant is provisional while half its interval is wider than this.

    Raises:
        ValueError: a value is out of range.
    """

    centre: float = 1200.0
    prior: float = 600.0
    anchors: tuple[tuple[str, float], ...] = ()
    loose_anchors: tuple[tuple[str, float, float], ...] = ()
    weighting: Weighting = "random-effects"
    provisional: float = 100.0

    def __post_init__(self) -> None:
        fixed = [
            self.centre,
            *(value for _, value in self.anchors),
            *(value for _, value, _ in self.loose_anchors),
        ]
        if not all(map(math.isfinite, fixed)):
            raise InvalidValue(
                "the centre and the anchors of strengths must be finite numbers", code="not-finite"
            )
        if not all(0 < deviation < math.inf for _, _, deviation in self.loose_anchors):
            raise InvalidValue(
                "the standard deviation of an anchor must be positive and finite",
                code="anchor-deviation",
            )
        if max(fixed) - min(fixed) > FARTHEST:
            raise InvalidValue(
                f"the anchors and the centre of strengths may be {FARTHEST:.0f} apart at the most, "
                f"not {max(fixed) - min(fixed):.0f}",
                code="anchors-apart",
            )
        if len(set(self.anchored)) < len(self.anchored):
            raise InvalidValue(
                "an entrant can be anchored at one strength only", code="anchor-twice"
            )

    def among(self, names: Collection[str]) -> "StrengthSettings":
        """Return the settings without anchors that are not among these entrants."""
        return replace(
            self,
            anchors=tuple(anchor for anchor in self.anchors if anchor[0] in names),
            loose_anchors=tuple(anchor for anchor in self.loose_anchors if anchor[0] in names),
        )

    @property
    def anchored(self) -> tuple[str, ...]:
        """The names of all anchors."""
        return (*(name for name, _ in self.anchors), *(name for name, *_ in self.loose_anchors))

    def to_json(self) -> dict[str, object]:
        loose = {name: [value, deviation] for name, value, deviation in self.loose_anchors}
        return {
            "centre": self.centre,
            "prior": self.prior,
            "anchors": dict(self.anchors),
            **({"loose_anchors": loose} if loose else {}),
            "weighting": self.weighting,
            "provisional": self.provisional,
        }


def with_anchors(texts: Iterable[str]) -> StrengthSettings:
    """Return settings with these anchors, "NAME@VERSION=STRENGTH" or with ":DEVIATION".

    Raises:
        ValueError: an anchor is not valid.
    """
    parsed = [_anchor(text.strip()) for text in texts if text.strip()]
    return StrengthSettings(
        anchors=tuple((name, value) for name, value, deviation in parsed if deviation is None),
        loose_anchors=tuple(
            (name, value, deviation) for name, value, deviation in parsed if deviation is not None
        ),
    )


def check_ladder_anchors(settings: StrengthSettings) -> None:
    """Check that the anchors of a ladder can be combined with those of other ladders.

    All anchors of a season are used together, so each must be within half of `FARTHEST` of the
    centre.

    Raises:
        ValueError: an anchor is farther away.
    """
    values = [value for _, value in settings.anchors]
    values += [value for _, value, _ in settings.loose_anchors]
    if any(abs(value - settings.centre) > FARTHEST / 2 for value in values):
        raise InvalidValue(
            f"anchors of a ladder must be within {FARTHEST / 2:.0f} of {settings.centre:.0f}",
            code="anchors-apart",
        )


def anchor_name(text: str) -> str:
    """Return the entrant of an anchor, "NAME@VERSION=STRENGTH" or with ":DEVIATION"."""
    return text.rpartition("=")[0].strip()


def _anchor(text: str) -> tuple[str, float, float | None]:
    _, equals, values = text.rpartition("=")
    name = anchor_name(text)
    value, colon, deviation = values.partition(":")
    try:
        if equals and name:
            return name, float(value), float(deviation) if colon else None
    except ValueError:
        pass
    raise InvalidValue(
        "write NAME@VERSION=STRENGTH, for example greedy@1=1200, or with a standard deviation "
        f"greedy@1=1200:50, not {text}",
        code="invalid-anchor",
    )
