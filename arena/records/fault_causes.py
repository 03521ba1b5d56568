"""Group faults by their cause, so that one error of a bot is listed once. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena.ratings.closed_match import PlayedFault

_PLACE: Final = re.compile(r"^(?:game \d+, decision \d+: )?(?:seat \d+: )?")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class FaultCause:
    """The faults of one version with one cause.

    Args:
        first: the first of them.
        is_new: whether earlier versions of the bot played without this kind of fault.
    """

    first: PlayedFault
    times: int
    is_new: bool = False

    @property
    def number(self) -> str:
        """Number of the version."""
        return self.first.version.partition("@")[2]

    @property
    def clause(self) -> str:
        """The sentence of the first fault without its game, decision and seat."""
        return cause_text(self.first.sentence)


def cause_text(sentence: str) -> str:
    """Return the sentence of a fault without its game, decision and seat."""
    return _PLACE.sub("", sentence)


def cause_key(fault: PlayedFault) -> tuple[str, str, str]:
    """Return the version, the kind and the sentence without numbers, which form a group."""
    return fault.version, fault.verdict, _NUMBER.sub("0", cause_text(fault.sentence))


def fault_causes(
    faults: Sequence[PlayedFault], earlier: Mapping[str, frozenset[str]] | None = None
) -> list[FaultCause]:
    """Group faults by `cause_key`; the most frequent first.

    Args:
        faults: the faults, in their order.
        earlier: by version, the kinds of faults of the earlier versions of its bot that have
            played; without an entry if no earlier version has played.
    """
    groups: dict[tuple[str, str, str], list[PlayedFault]] = {}
    for fault in faults:
        groups.setdefault(cause_key(fault), []).append(fault)
    known = earlier or {}
    causes = [
        FaultCause(group[0], len(group), version in known and verdict not in known[version])
        for (version, verdict, _), group in groups.items()
    ]
    return sorted(causes, key=lambda cause: -cause.times)
