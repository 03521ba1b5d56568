"""All operations of organisers and owners."""

from typing import Final

from arena.web.management import (
    account_actions,
    moderation_actions,
    owner_actions,
    submission_actions,
    tournament_actions,
)
from arena.web.management.action import Action

ACTIONS: Final[tuple[Action, ...]] = (
    *tournament_actions.ACTIONS,
    *owner_actions.ACTIONS,
    *moderation_actions.ACTIONS,
    *submission_actions.ACTIONS,
    *account_actions.ACTIONS,
)
