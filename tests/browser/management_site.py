"""An arena with work for its organiser and for an owner, and signed-in browsers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page

from arena.cli.workspace import Workspace
from arena.store.access import organisers
from arena.store.access.audit_log import COMMAND_LINE
from arena.store.bots import owners, quarantine, submissions, versions
from arena.store.matches import corrections, listing
from arena.store.schema import SubmissionStage
from arena.store.tournaments import lifecycle
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.stored_tournament import play_match, store_tournament
from tests.arena.web.page_server import served
from tests.arena.web.stored_submissions import add_submission
from tests.browser.conftest import PATIENCE_MS


@dataclass(frozen=True)
class ManagedArena:
    """A served arena.

    Attributes:
        address: its URL, without a slash at the end.
        web: its state.
        tokens: a token for each role.
        closed_tournament: a tournament that is over.
        void_match: a match that the organiser voided.
        submission: a submission that waits for approval.
    """

    address: str
    web: WebState
    tokens: dict[str, str]
    closed_tournament: str
    void_match: str
    submission: str

    def signed_in(self, browser: Browser, role: str, *, java_script_enabled: bool = True) -> Page:
        """Return the tab of a new window that is signed in as the organiser or the owner."""
        context = browser.new_context(java_script_enabled=java_script_enabled)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto(f"{self.address}/sign-in")
        page.get_by_label("Token").fill(self.tokens[role])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{self.address}/{'organiser' if role == 'organiser' else 'account'}")
        return page


@contextmanager
def managed_arena(folder: Path) -> Iterator[ManagedArena]:
    """Serve an arena with tournaments, corrections, submissions, owners and excluded bots."""
    workspace = Workspace(folder)
    store = workspace.store
    tournament = store_tournament(workspace, ["mybot", "bob", "cy", "dan"], {})
    for name, owner in (("mybot", "ada"), ("bob", "eve")):
        versions.set_owner(store, versions.find_version(store, f"{name}@1"), owner)
    void, *_ = listing.matches(store, tournament=tournament)
    corrections.void(store, void.id, COMMAND_LINE, "a power cut")
    quarantine.ban(store, "dan@1", "it attacks the sandbox")
    waiting = add_submission(workspace, name="mybot")
    submissions.step(store, waiting.id, SubmissionStage.APPROVING, awaits_approval=True)
    tokens = {
        "organiser": organisers.add_organiser(store, "grace"),
        "owner": owners.add_owner(store, "ada"),
    }
    web = WebState(store, ServerSettings(rate=0, data=workspace.folder.root))
    with served(web) as address:
        yield ManagedArena(address, web, tokens, tournament, void.id, waiting.id)
    store.dispose()


def played_match(arena: ManagedArena, tournament: str) -> str:
    """Start a paused tournament, play its first match and pause it again; return the match."""
    lifecycle.resume(arena.web.engine, tournament)
    match, *_ = listing.matches(arena.web.engine, tournament=tournament)
    play_match(arena.web.engine, match.id)
    lifecycle.pause(arena.web.engine, tournament)
    return match.id
