"""All operations of organisers and owners."""

from typing import Final

from arena.web.management import account_actions, organiser_actions, tournament_actions
from arena.web.management.action import Action

ACTIONS: Final[tuple[Action, ...]] = (
    *tournament_actions.ACTIONS,
    *organiser_actions.ACTIONS,
    *account_actions.ACTIONS,
)
