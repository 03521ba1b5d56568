"""The replay of one recorded game as its page needs it: for the server and for static files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from arena import telling
from arena.scene.film import Film
from arena.scene.reel import Moment, Reel, reel
from arena.web.verification import Verification
from referee.games.registry import find
from referee.record import GameRecord, Line, read_games

ALL = "all"
"""The eyes of one who sees every hand."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Which position is shown, and to whose eyes: "all", or a seat."""

    step: int = 0
    eyes: str = ALL
    decision: int | None = None
    """The decision that is asked for in it, instead of its number."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What the templates replay.html and embed.html call `r`."""

    match: str
    tournament: str
    game: str
    number: int
    games: tuple[int, ...]
    """The numbers of all games of the match."""
    title: str
    subtitle: str
    options: tuple[str, ...]
    names: tuple[str, ...]
    film: Film
    moments: tuple[Moment, ...]
    chapters: tuple[str, ...]
    """What each chapter is called."""
    step: int
    eyes: str
    result: str
    seed: str
    commitment: str
    sandbox: str
    """How its bots were locked in; empty if nobody knows, or none of them ran here."""
    verified: Verification | None
    """None while it is being looked at."""
    record: str
    """The address of the record."""
    embed: str
    """HTML that shows this game within another site; empty where there is no server."""

    @property
    def last(self) -> int:
        """The number of the last position."""
        return len(self.moments) - 1

    @property
    def events(self) -> tuple[int, ...]:
        """The positions at which one who is in a hurry stops."""
        return tuple(moment.step for moment in self.moments if moment.is_event)

    @property
    def event_before(self) -> int:
        """The event before what is shown; the start if there is none."""
        return max((at for at in self.events if at < self.step), default=0)

    @property
    def event_after(self) -> int:
        """The event after what is shown; the end if there is none."""
        return min((at for at in self.events if at > self.step), default=self.last)


def replay(
    match: Line,
    game: GameRecord,
    seed: bytes,
    shown: Shown,
    *,
    games: Sequence[int],
    record: str,
    verified: Verification | None,
    embed: str = "",
) -> Replay:
    """The replay of a game.

    Args:
        match: the record's match line.
        game: the game.
        seed: the seed of the match, 32 bytes.
        shown: the position that is shown first; one behind the end is the end.
        games: the numbers of all games of the match.
        record: the address of the whole record.
        verified: what checking the record came to.
        embed: HTML that shows this game within another site.

    Raises:
        Mismatch: the record is not that of a game that could have been played.
    """
    found = _reel(json.dumps(match), game.text, seed)
    entrants = " v ".join(name for name, _ in match["entrants"])
    return Replay(
        match=match["match"],
        tournament=match.get("tournament") or "",
        game=match["game"],
        number=game.number,
        games=tuple(games),
        title=f"{find(match['game']).title}: {entrants}",
        subtitle=f"game {game.number} · board {game.game['board']} · table {game.game['table']}",
        options=_options(match),
        names=found.names,
        film=found.film,
        moments=found.moments,
        chapters=_chapters(found),
        step=_first(found, shown),
        eyes=shown.eyes,
        result=telling.result(game).removeprefix("result: "),
        seed=seed.hex(),
        commitment=match["commitment"],
        sandbox=game.game.get("sandbox", ""),
        verified=verified,
        record=record,
        embed=embed,
    )


def _first(found: Reel, shown: Shown) -> int:
    """The number of the position that is shown first."""
    if shown.decision is None:
        return min(shown.step, len(found.moments) - 1)
    before = [all(act.decision < shown.decision for act in m.acts) for m in found.moments]
    return max(sum(before) - 1, 0)


@lru_cache(maxsize=32)
def _reel(match: str, game: str, seed: bytes) -> Reel:
    (record,) = read_games(game)
    return reel(json.loads(match), record, seed)


def _options(match: Line) -> tuple[str, ...]:
    """The options that are not as usual: "greed", "must beat: false"."""
    usual = find(match["game"]).options
    return tuple(
        name.replace("_", " ") + ("" if value is True else f": {str(value).lower()}")
        for name, value in match["options"].items()
        if value != usual[name].default
    )


def _chapters(found: Reel) -> tuple[str, ...]:
    """The first words of the heading with which each chapter begins: "Deal 3"."""
    names: dict[int, str] = {}
    for span in found.film.titles:
        chapter = found.moments[span.first].chapter
        names.setdefault(chapter, span.value.heading.partition(" · ")[0])
    return tuple(names[chapter] for chapter in sorted(names))
