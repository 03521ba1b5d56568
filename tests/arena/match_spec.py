"""A match of two bots in Poke."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from arena.store.match_settings import Clock
from arena.store.matches.spec import Entrant, MatchSpec
from referee.games.shared.dealing import commitment

SEED = bytes(range(32))


def poke_spec(entrants: Iterable[Entrant], **changes: Any) -> MatchSpec:
    """Return a match of one board with the default options, with changes."""
    spec = MatchSpec(
        id="m-0123456789",
        tournament=None,
        round=0,
        number=0,
        game="poke",
        options={"must_beat": True},
        seats=2,
        boards=1,
        clock=Clock(),
        entrants=tuple(entrants),
        commitment=commitment(SEED),
        seed=SEED,
    )
    return replace(spec, **changes)
