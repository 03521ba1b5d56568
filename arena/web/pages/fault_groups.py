"""Faults grouped by cause and version, with what is new in a version."""

from __future__ import annotations

from collections.abc import Sequence

from arena.ratings.closed_match import PlayedFault
from arena.records.fault_causes import FaultCause, fault_causes
from arena.store.matches import history
from arena.web.data.web_state import WebState


def causes_of(web: WebState, faults: Sequence[PlayedFault]) -> list[FaultCause]:
    """Group faults by cause, with what is new in a version."""
    earlier = {}
    for name in {fault.version for fault in faults}:
        before = _earlier_versions(web, name)
        if before and history.count(web.engine, [before]):
            earlier[name] = frozenset(history.kinds(web.engine, before))
    return fault_causes(faults, earlier)


def _earlier_versions(web: WebState, name: str) -> list[str]:
    versions = web.snapshot.versions
    version = versions.get(name)
    if version is None:
        return []
    return [
        other.id
        for other in versions.values()
        if other.name == version.name and other.created < version.created
    ]
