"""The result of the test whether strengths explain the results, as values without numpy."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Misfit:
    """A pair whose results deviate from the fit.

    Attributes:
        one: the first entrant.
        other: the second entrant.
        matches: number of their matches.
        score: mean score of `one` against `other`.
        expected: the score expected from their strengths.
        z: the deviation in standard errors.
    """

    one: str
    other: str
    matches: int
    score: float
    expected: float
    z: float


@dataclass(frozen=True, slots=True)
class LackOfFit:
    """The result of the test.

    Attributes:
        ratio: 1 if the deviations of the pairs have the size expected by chance; larger is worse.
        freedom: degrees of freedom of the pairs, and of the matches within pairs.
        p_value: the probability of this or a larger ratio by chance. Below 0.05 strengths do not
            explain the results: consult the crosstable.
        worst: the pairs with the largest deviations.
    """

    ratio: float
    freedom: tuple[int, int]
    p_value: float
    worst: tuple[Misfit, ...]

    def to_json(self) -> dict[str, object]:
        return {
            "ratio": self.ratio,
            "freedom": list(self.freedom),
            "p": self.p_value,
            "worst": [
                {
                    "entrants": [pair.one, pair.other],
                    "matches": pair.matches,
                    "score": pair.score,
                    "expected": pair.expected,
                    "z": pair.z,
                }
                for pair in self.worst
            ],
        }
