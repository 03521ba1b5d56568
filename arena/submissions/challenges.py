"""Challenges: an owner requests a match between one of their bots and another bot of the arena."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from arena.errors import Conflict, InvalidSettings, NotFound, nearest
from arena.store.bots import remote_bots, versions
from arena.store.match_settings import parse_ladder
from arena.store.tournaments import challenges
from arena.store.tournaments.challenges import ChallengeLimits
from arena.submissions import open_ladders
from arena.tournaments import scheduler
from referee.games.contract import SetupError
from referee.games.registry import GAMES

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.bots.versions import Version
    from arena.store.match_settings import TournamentPlan
    from arena.store.tournaments.tournaments import Tournament

_SIDES: Final = 2


class ChallengeRefused(Exception):
    """A challenge is refused. The exception's text is a sentence for the sender."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def begin(
    engine: Engine,
    owner: str,
    bot: str,
    opponent: str,
    form: str,
    boards: int,
    limits: ChallengeLimits,
) -> Tournament:
    """Create a challenge, whose match is due at once.

    Its clock and its policy are those of the open ladder of the form, if there is one.

    Args:
        bot: the challenger as ``name`` (its newest version) or ``name@number``; empty: the owner's
            only bot.
        opponent: the opponent, likewise.
        form: the form of the game; empty: the first form that both bots play.

    Raises:
        ChallengeRefused: a rule is violated.
        TooMany: a limit is reached.
    """
    if not 1 <= boards <= limits.boards:
        raise ChallengeRefused(
            422, f"a challenge in this arena has 1 to {limits.boards} boards, not {boards}."
        )
    challenger = _challenger(engine, owner, bot)
    challenged = _opponent(engine, owner, opponent)
    if challenger.id == challenged.id:
        raise ChallengeRefused(422, "choose two different versions.")
    plan = replace(
        _plan(engine, form, challenger, challenged),
        name=f"{challenger.name} challenges {challenged.name}",
        boards=boards,
        format=challenges.FORMAT,
        settings={},
    )
    try:
        return scheduler.begin(
            engine,
            plan,
            [challenger.id, challenged.id],
            check=lambda connection: challenges.check(connection, owner, limits),
        )
    except Conflict as error:
        # A version has been retired or quarantined meanwhile.
        raise ChallengeRefused(409, str(error)) from None


def _challenger(engine: Engine, owner: str, label: str) -> Version:
    """Return an own version that can play now."""
    if not label:
        names = {version.name for version in versions.active_of(engine, owner)}
        if len(names) != 1:
            count = f"the bots {', '.join(sorted(names))}" if names else "no bot"
            raise ChallengeRefused(422, f"{owner} has {count}; name the bot that challenges.")
        (label,) = names
    version = _version(engine, label)
    if version.owner != owner:
        raise ChallengeRefused(403, f"{version.id} does not belong to {owner}.")
    if not version.folder:
        remote = remote_bots.find_remote_bot(engine, version.id)
        if remote is None or not remote.is_connected:
            raise ChallengeRefused(409, f"the remote bot {version.id} is not connected.")
    return version


def _opponent(engine: Engine, owner: str, label: str) -> Version:
    """Return a version that may be challenged by this owner."""
    if not label:
        raise ChallengeRefused(422, "name the opponent, for example greedy or greedy@1.")
    version = _version(engine, label)
    if (version.owner != owner or not owner) and (refusal := refusal_to_others(version)):
        raise ChallengeRefused(403, refusal)
    return version


def refusal_to_others(version: Version) -> str:
    """Return why only its owner may start a match of a version; empty if others may too."""
    if not version.folder:
        return f"{version.id} is a remote bot; only its owner can start a match of it."
    if version.manifest.get("challenges") is False:
        return f"the owner of {version.id} accepts no challenges."
    return ""


def _version(engine: Engine, label: str) -> Version:
    """Return the newest active version of a bot, or the named version if it is active."""
    name, at, _ = label.partition("@")
    active = [
        version
        for version in versions.list_versions(engine, name=name)
        if version.quarantined is None and (not at or version.id == label)
    ]
    if active:
        return active[-1]
    try:
        known = versions.find_version(engine, label) if at else None
    except NotFound:
        known = None
    if known is None:
        names = {version.name for version in versions.list_versions(engine)}
        hint = nearest(name, names) or "; /bots lists all."
        raise ChallengeRefused(404, f'unknown bot "{label}"{hint}')
    state = "is retired" if known.retired is not None else "is in quarantine"
    raise ChallengeRefused(409, f"{label} {state}.")


def _plan(engine: Engine, form: str, *players: Version) -> TournamentPlan:
    """Return the settings of the open ladder of a form, or the default settings.

    Raises:
        ChallengeRefused: the form does not exist, has another number of sides than two, or is not
            played by both bots.
    """
    if form:
        try:
            game, seats, options, clock_class = parse_ladder(form)
            chosen = open_ladders.plan_of(game.id, seats, options, clock_class)
        except (InvalidSettings, SetupError) as error:
            reason = str(error).rstrip(".")
            raise ChallengeRefused(422, f'unknown form "{form}": {reason}.') from None
        for player in players:
            if not player.plays(chosen.game):
                raise ChallengeRefused(422, f"{player.id} does not play {chosen.game}.")
        if chosen.sides != _SIDES:
            raise ChallengeRefused(422, f"a challenge has two sides; {chosen.form} does not.")
    else:
        fitting = (
            plan
            for plan in _candidates(engine)
            if plan.sides == _SIDES and all(player.plays(plan.game) for player in players)
        )
        first = next(fitting, None)
        if first is None:
            raise ChallengeRefused(
                422,
                f"no game with two sides is played by both {players[0].id} and {players[1].id}.",
            )
        chosen = first
    ladders = (ladder.plan for ladder in open_ladders.list_open_ladders(engine))
    return next((plan for plan in ladders if plan.ladder == chosen.ladder), chosen)


def _candidates(engine: Engine) -> Iterator[TournamentPlan]:
    """Yield the settings of the open ladders, then those of the default form of each game."""
    yield from (ladder.plan for ladder in open_ladders.list_open_ladders(engine))
    yield from map(open_ladders.plan_of, GAMES)
