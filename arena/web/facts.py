"""What the store says of the matches that news are about."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import asdict
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError

from arena import results as counted
from arena.news import MatchClosed, News, TournamentChanged
from arena.results import FAULTS, ClosedMatch
from arena.store import schema, tournaments
from arena.store.database import reading
from arena.store.errors import StoreError
from arena.store.outcome import games_of

_KEPT = 5000


class Facts:
    """News with what else is public of them: the tournament, the form, the result at the end."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._matches: OrderedDict[str, dict[str, str]] = OrderedDict()

    def known(self, heard: News) -> dict[str, Any] | None:
        """What is to be told, if nothing has to be read for it."""
        if isinstance(heard, MatchClosed | TournamentChanged):
            return None
        found = self._matches.get(heard.match)
        return None if found is None else {**asdict(heard), **found}

    def read(self, heard: News) -> dict[str, Any]:
        """The same, read from the store. What cannot be read is left out."""
        try:
            if isinstance(heard, TournamentChanged):
                told = {"tournament": heard.id, "state": heard.state}
                return {**told, "form": tournaments.find(self._engine, heard.id).plan.form}
            found = self._match(heard.match)
            ended = self._result(heard.match) if isinstance(heard, MatchClosed) else {}
            return {**asdict(heard), **found, **ended}
        except (SQLAlchemyError, StoreError, LookupError):
            return asdict(heard)

    def _match(self, match: str) -> dict[str, str]:
        if match not in self._matches:
            query = select(schema.matches.c.tournament).where(schema.matches.c.id == match)
            with reading(self._engine) as connection:
                tournament = connection.execute(query).scalar_one()
            form = tournaments.find(self._engine, tournament).plan.form
            self._matches[match] = {"tournament": tournament, "form": form}
            if len(self._matches) > _KEPT:
                self._matches.popitem(last=False)
        return self._matches[match]

    def _result(self, match: str) -> dict[str, Any]:
        """Of a match that has closed: there is no result before."""
        results = schema.results
        query = select(results.c.outcome).where(results.c.match == match)
        with reading(self._engine) as connection:
            outcome = connection.execute(query).scalar_one_or_none()
        if outcome is None:
            return {}
        closed = ClosedMatch(match, 0, 0, tuple(outcome["entrants"]), games_of(outcome))
        faults = [
            sum(game.verdicts[at] in FAULTS for game in closed.games)
            for at in range(len(closed.entrants))
        ]
        return {
            "entrants": closed.entrants,
            "scores": [round(mean, 4) for mean in counted.means(counted.pairwise(closed))],
            "games": closed.played,
            "faults": faults,
        }
