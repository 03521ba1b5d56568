"""Operations of owners on their own bots: versions, challenges, reasoning."""

from __future__ import annotations

from typing import Final

from starlette.exceptions import HTTPException

from arena.store.access.sessions import Role
from arena.store.bots import owner_data, versions
from arena.store.bots.owner_data import ReasoningState
from arena.store.matches import listing
from arena.store.tournaments.challenges import ChallengeLimits
from arena.submissions import challenges, open_ladders
from arena.submissions.challenges import ChallengeRefused
from arena.tournaments import json_values
from arena.web.management import consequences
from arena.web.management.action import Action, ActionRequest, ActionResult, InputField
from referee.games.game_packages import EXAMPLE_GAME

ACCOUNT: Final = "/account"
_BOARDS: Final = 10


def _retire(request: ActionRequest) -> ActionResult:
    version = versions.find_version(request.web.engine, request.text("version"))
    if version.owner != request.actor.name:
        raise HTTPException(403, f"{version.id} does not belong to {request.actor.name}.")
    withdrawn = open_ladders.retire(request.web.engine, version)
    retired = versions.find_version(request.web.engine, version.id).retired
    values = {
        "version": version.id,
        "retired": json_values.iso(retired),
        "withdrawn": list(withdrawn),
    }
    return ActionResult(values, ACCOUNT)


def _challenge(request: ActionRequest) -> ActionResult:
    settings = request.web.settings
    if not settings.challenges:
        raise HTTPException(403, "this arena accepts no challenges.")
    limits = ChallengeLimits(a_day=settings.challenges, boards=settings.challenge_boards)
    bot, opponent, form = (request.text(name) for name in ("bot", "opponent", "form"))
    given = request.number("boards")
    boards = _BOARDS if given is None else given
    owner = request.actor.name
    try:
        challenge = challenges.begin(request.web.engine, owner, bot, opponent, form, boards, limits)
    except ChallengeRefused as refused:
        raise HTTPException(refused.status, str(refused)) from None
    (match,) = listing.matches(request.web.engine, tournament=challenge.id)
    values = {
        "challenge": challenge.id,
        "match": match.id,
        "form": challenge.plan.form,
        "boards": challenge.plan.boards,
        "games": match.games,
        "entrants": list(challenge.entrants),
        "created": json_values.iso(challenge.created),
    }
    return ActionResult(values, f"/tournaments/{challenge.id}")


def _reasoning(request: ActionRequest) -> ActionResult:
    state, bot = ReasoningState(request.text("state")), request.text("bot")
    owner = request.actor.name
    lines = owner_data.set_reasoning(request.web.engine, owner, state, bot)
    return ActionResult({"bot": bot or None, "state": state, "lines": lines}, ACCOUNT)


RETIRE: Final = Action(
    f"{ACCOUNT}/retire",
    "account.retire",
    "Retire",
    "Retires a version of one of your bots and withdraws it from the open ladders.",
    _retire,
    (InputField("version", "NAME@VERSION", required=True, example="mybot@1"),),
    Role.OWNER,
    {
        "version": "mybot@1",
        "retired": "2026-11-23T23:06:04.000+00:00",
        "withdrawn": ["t-7f3k9q"],
    },
    changes=consequences.of_retirement,
)
CHALLENGE: Final = Action(
    f"{ACCOUNT}/challenges",
    "account.challenge",
    "Start a challenge",
    "Starts a match between one of your bots and another bot; no ladder counts it.",
    _challenge,
    (
        InputField("bot", "NAME or NAME@VERSION; empty: the only one", label="your bot"),
        InputField("opponent", "NAME or NAME@VERSION", required=True, example="greedy"),
        InputField(
            "form", "GAME or GAME-4, with 4 players; empty: the first that both play", label="game"
        ),
        InputField("boards", "number of boards", "number", example=str(_BOARDS)),
    ),
    Role.OWNER,
    {
        "challenge": "t-7f3k9q",
        "match": "m-7f3k9q2xwd",
        "form": EXAMPLE_GAME,
        "boards": 10,
        "games": 20,
        "entrants": ["mybot@2", "greedy@1"],
        "created": "2026-11-23T23:06:04.000+00:00",
    },
    created=True,
    form=ACCOUNT,
)
REASONING: Final = Action(
    f"{ACCOUNT}/reasoning",
    "account.reasoning",
    "Change",
    "Publishes, hides or deletes the reasoning of your bots; a deletion cannot be undone.",
    _reasoning,
    (
        InputField("bot", "NAME of one of your bots; empty: all"),
        InputField(
            "state", "who can read the reasoning", required=True, choices=tuple(ReasoningState)
        ),
    ),
    Role.OWNER,
    {"bot": "mybot", "state": "published", "lines": 24},
    changes=consequences.of_reasoning,
)
ACTIONS: Final = (RETIRE, CHALLENGE, REASONING)
