"""Prepare the match that `pokearena play` plays: resolve and build its bots."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass

from arena.bots.bot import HUMAN, Bot, with_unique_labels
from arena.cli import game_options
from arena.cli.bots import registration
from arena.cli.errors import UNREACHABLE, CommandError
from arena.cli.workspace import Workspace
from arena.matches import human_seats
from arena.matches.local_match import LocalMatch, local_match
from arena.store.matches.spec import Clock
from arena.tournaments import game_settings

PARTNER = "sample:greedy"
_CONNECT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class MatchRequest:
    """The requested match."""

    game: str
    bots: Sequence[str]
    """As typed on the command line."""
    seed: str
    boards: int
    options: Sequence[str]
    clock: Clock
    policy: str
    seats: int | None = None
    """Number of seats; None chooses the first one that fits the bots."""
    think: int | None = None
    """Thinking time of a person at a table in seconds; None: unlimited."""
    partner: str = PARTNER
    """The bot for the other seats of a person's side, as typed on the command line."""
    all_seatings: bool = False
    """Whether a match with a person has a table for every seating, not only one."""


def prepare(workspace: Workspace, request: MatchRequest) -> LocalMatch:
    """Resolve and build the bots, and return the requested match."""
    game = game_settings.game_named(request.game)
    options = game_options.options_of(game, request.options)
    seats = game_options.seats_for(game, options, len(request.bots), request.seats)
    sides = game.side_count(seats, options)
    bots = with_unique_labels(
        _bot(workspace, request, text, seats > sides) for text in request.bots
    )
    for bot in (*bots, *(bot.partner for bot in bots if bot.partner is not None)):
        game_options.check_plays(bot, game)
        registration.up_to_date(workspace, bot)
        _check_reachable(bot)
    return local_match(
        bots,
        game.id,
        options,
        seats,
        boards=request.boards,
        clock=request.clock,
        policy=request.policy,
        seed=game_settings.seed_of(request.seed),
        seed_text=request.seed,
        all_seatings=request.all_seatings,
    )


def _bot(workspace: Workspace, request: MatchRequest, text: str, needs_partner: bool) -> Bot:
    """Return a bot, or a person, with a partner if its side has several seats."""
    if text != HUMAN:
        return workspace.bot(text)
    person = human_seats.person(request.think)
    return (
        human_seats.with_partner(person, workspace.bot(request.partner))
        if needs_partner
        else person
    )


def _check_reachable(bot: Bot) -> None:
    """Raise CommandError if nothing listens at the address of a remote bot.

    Other failures are left to the referee, which retries until the start limit.
    """
    host, colon, port = (bot.address or "").removeprefix("grpc://").rpartition(":")
    if not colon or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
    except ConnectionRefusedError:
        raise CommandError(
            f"cannot reach the bot {bot.label}: connection refused. Start it first.",
            UNREACHABLE,
            code="connection-refused",
        ) from None
    except OSError:
        return
