"""Compare a bundle with an earlier one: facts published during a tournament must not change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from arena.formats.contract import FormatEntrant
from arena.records.bundle.bundle import Bundle, Scheduled
from arena.records.redaction import published


def changes(earlier: Bundle, later: Bundle) -> Iterator[str]:
    """Yield a sentence for each fact of the earlier bundle that has changed.

    Meanwhile matches may have been added, played and closed, and entrants may have joined or left.
    """
    if earlier.tournament.id != later.tournament.id:
        yield f"the earlier bundle contains tournament {earlier.tournament.id}"
        return
    yield from _plan(earlier, later)
    yield from _entrants(earlier, later)
    now = {match.id: match for match in later.matches}
    for match in earlier.matches:
        if match.id not in now:
            yield f"{match.words} is missing in the later schedule"
            continue
        yield from _match(match, now[match.id])
        # One of the bundles may be the organiser's, with the output of bots.
        records = (published(bundle.records.get(match.id, "")) for bundle in (earlier, later))
        if match.over and len(set(records)) > 1:
            yield f"the record of {match.words} has changed since the match was over"


def _plan(earlier: Bundle, later: Bundle) -> Iterator[str]:
    then, now = earlier.tournament.plan, later.tournament.plan
    for field in fields(then):
        before, after = getattr(then, field.name), getattr(now, field.name)
        if before != after:
            yield f"{field.name} of the tournament was {before}, and is {after}"
    if earlier.tournament.ended is not None:
        before, after = earlier.tournament.state, later.tournament.state
        if before is not after:
            yield f"the tournament was {before}, and is {after}"


def _entrants(earlier: Bundle, later: Bundle) -> Iterator[str]:
    # New entrants are appended: the order is that of the seeds.
    later_ones = iter(later.entries)
    for then in earlier.entries:
        now = next(later_ones, None)
        if now is None or now.name != then.name:
            yield f"{then.name} has another position among the entrants"
            return
        if earlier.versions[then.name] != later.versions[now.name]:
            yield f"{then.name} has another content hash"
        if not _same(then, now):
            yield f"{then.name} has another owner, or joined or left in another round"


def _same(then: FormatEntrant, now: FormatEntrant) -> bool:
    left = then.withdrawn in (None, now.withdrawn)
    return left and (then.owner, then.joined) == (now.owner, now.joined)


def _match(then: Scheduled, now: Scheduled) -> Iterator[str]:
    for name in ("round", "number", "entrants", "commitment", "why"):
        before, after = getattr(then, name), getattr(now, name)
        if before != after:
            yield f"{name} of {then.words} was {before}, and is {after}"
    if then.over and then.state is not now.state:
        yield f"{then.words} was {then.state.lower()}, and is {now.state.lower()}"
    if now.attempts < then.attempts:
        yield f"{then.words} had {then.attempts} attempts, and has {now.attempts}"
