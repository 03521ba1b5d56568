"""Prepare the match that `pokearena play` plays: resolve and build its bots."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass

from arena.bots import resolver
from arena.bots.bot import HUMAN, Bot, with_unique_labels
from arena.cli import game_options
from arena.cli.bots import registration
from arena.cli.errors import UNREACHABLE, CommandError
from arena.cli.workspace import Workspace
from arena.matches import human_seats
from arena.matches.local_match import LocalMatch, local_match
from arena.store.match_settings import MatchSettings, seed_of

_CONNECT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class PersonOptions:
    """What concerns a person at the table."""

    think: int | None = None
    """Thinking time in seconds; None: unlimited."""
    partner: str | None = None
    """The bot for the other seats of the person's side, as typed; None: the usual opponent."""
    all_seatings: bool = False
    """Whether the match has a table for every seating, not only one."""


def prepare(
    workspace: Workspace,
    settings: MatchSettings,
    texts: Sequence[str],
    seed: str,
    person: PersonOptions | None = None,
    *,
    network: bool = False,
) -> LocalMatch:
    """Resolve and build the bots as typed, and return the requested match.

    `seed` is a text that determines the cards. With `network`, bots with a model get the network
    and their key.
    """
    person = person or PersonOptions()
    settled = game_options.settled(settings, len(texts))
    game = settled.rules
    partner = person.partner or resolver.usual_opponent(game.id)
    if settled.seats == settled.sides:
        partner = ""
    bots = with_unique_labels(
        registration.with_network(_bot(workspace, person, text, partner), granted=network)
        for text in texts
    )
    for bot in (*bots, *(bot.partner for bot in bots if bot.partner is not None)):
        game_options.check_plays(bot, game)
        registration.up_to_date(workspace, bot)
        _check_reachable(bot)
    return local_match(bots, settled, seed_of(seed), seed, all_seatings=person.all_seatings)


def _bot(workspace: Workspace, person: PersonOptions, text: str, partner: str) -> Bot:
    """Return a bot, or a person, who has a partner unless the text is empty."""
    if text != HUMAN:
        return workspace.bot(text)
    human = human_seats.person(person.think)
    return human_seats.with_partner(human, workspace.bot(partner)) if partner else human


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
