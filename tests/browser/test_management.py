"""Organisers and owners manage the arena in the browser, with and without scripts."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import pytest
from playwright.sync_api import Browser, Page, expect

from arena.store.access import audit_log
from arena.store.bots import owners, submissions, versions
from arena.store.matches import listing
from arena.store.schema import Approval, MatchState
from arena.store.tournaments import tournaments
from tests.browser.management_site import ManagedArena, managed_arena, played_match
from tests.browser.test_accessibility import Look, check_pages, in_every_look

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

ORGANISER = {
    "organiser": "/organiser",
    "organiser-new-tournament": "/organiser/tournaments/new",
    "organiser-tournament": "/organiser/tournaments/{tournament}",
    "organiser-match": "/organiser/matches/{match}",
    "organiser-confirmation": "/organiser/tournaments/{tournament}/disqualify?version=cy@1",
    "organiser-bots": "/organiser/bots",
    "organiser-submissions": "/organiser/submissions",
    "organiser-owners": "/organiser/owners",
    "organiser-audit": "/organiser/audit",
    "sign-in": "/sign-in",
}
OWNER = {"account": "/account", "retire": "/account/retire?version=mybot@1"}


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagedArena]:
    with managed_arena(tmp_path_factory.mktemp("managed") / "data") as arena:
        yield arena


OrganiserTab = Callable[[bool], Page]
"""Return the tab of the organiser in a browser with or without scripts."""


@pytest.fixture(scope="module")
def organiser(browser: Browser, arena: ManagedArena) -> OrganiserTab:
    return cache(
        lambda has_scripts: arena.signed_in(browser, "organiser", java_script_enabled=has_scripts)
    )


def send(page: Page, button: str, **values: str) -> None:
    """Fill in the form with this button and send it."""
    form = page.locator("form", has=page.get_by_role("button", name=button, exact=True))
    for name, value in values.items():
        form.locator(f"[name={name}]").fill(value)
    with page.expect_navigation():
        form.get_by_role("button", name=button, exact=True).click()


def test_a_refused_estimate_shows_the_reason(organiser: OrganiserTab, arena: ManagedArena) -> None:
    refusal = "<main><h1>Error</h1><p>too many requests; retry in 9 s.</p></main>"
    page = organiser(True)
    page.goto(f"{arena.address}/organiser/tournaments/new")
    page.route(
        "**/organiser/tournaments/preview",
        lambda route: route.fulfill(status=429, content_type="text/html", body=refusal),
    )
    page.locator("input[value='bob@1']").check()
    expect(page.locator("#estimate")).to_contain_text("retry in 9 s")
    page.unroute_all()


@pytest.mark.parametrize("has_scripts", [True, pytest.param(False, marks=pytest.mark.repetition)])
def test_a_tournament_is_created_from_the_form_and_managed(
    organiser: OrganiserTab, arena: ManagedArena, has_scripts: bool
) -> None:
    page = organiser(has_scripts)
    page.goto(f"{arena.address}/organiser/tournaments/new")
    for bot in ("mybot@1", "bob@1", "cy@1"):
        page.locator(f"input[value='{bot}']").check()
    page.locator("[name=boards]").fill("1")
    page.locator("summary", has_text="Faults, seed").click()
    page.locator("[name=paused]").check()
    with page.expect_navigation():
        page.get_by_role("button", name="Preview the schedule").click()
    expect(page.locator("#estimate ol li")).to_have_count(3)
    expect(page.locator("[name=bots]:checked")).to_have_count(3)
    page.get_by_role("button", name="Create the tournament").click()
    page.wait_for_url("**/organiser/tournaments/t-*")
    name = page.url.rpartition("/")[2]
    send(page, "Start")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    send(page, "Pause")
    match = played_match(arena, name)
    page.locator("summary", has_text="Add bots").click()
    page.locator("summary", has_text="Other bots").click()
    page.locator("#bots-others").fill("mybt")
    with page.expect_navigation():
        page.locator("form button", has_text="Add bots").click()
    expect(page.locator("#bots-wrong")).to_contain_text("mybot")
    page.goto(f"{arena.address}/organiser/tournaments/{name}")
    page.get_by_role("link", name=re.compile(f"^Play again: .*{match}$")).click()
    send(page, "Play the match again", reason="a power cut")
    page.wait_for_url("**/organiser/matches/m-*")
    again = page.url.rpartition("/")[2]
    assert listing.find_match(arena.web.engine, match).state is MatchState.VOID
    assert listing.find_match(arena.web.engine, again).replay == 1
    page.goto(f"{arena.address}/matches/{match}")
    expect(page.get_by_role("link", name=again)).to_have_attribute("href", f"/matches/{again}")
    page.goto(f"{arena.address}/organiser/tournaments/{name}")
    page.get_by_role("link", name="Withdraw cy", exact=True).click()
    send(page, "Withdraw", reason="it is slow")
    page.get_by_role("link", name="Cancel …").click()
    send(page, "Cancel the tournament", reason="rain")
    expect(page.get_by_role("link", name="Cancel …")).to_have_count(0)
    assert tournaments.find_tournament(arena.web.engine, name).state == "cancelled"
    logged = {entry.action for entry in audit_log.list_entries(arena.web.engine, subject=name)}
    assert logged >= {"tournament.start", "tournament.withdraw", "tournament.cancel"}


@pytest.mark.parametrize("has_scripts", [False, pytest.param(True, marks=pytest.mark.repetition)])
def test_a_token_is_shown_once_and_revoked(
    organiser: OrganiserTab, arena: ManagedArena, has_scripts: bool
) -> None:
    page = organiser(has_scripts)
    page.goto(f"{arena.address}/organiser/owners")
    send(page, "Issue a token", name="owen")
    token = page.locator("dd code").nth(1).inner_text()
    assert owners.known_by(arena.web.engine, token) == "owen"
    page.goto(f"{arena.address}/organiser/owners")
    assert token not in page.content()
    page.get_by_role("link", name="Revoke the token of owen").click()
    send(page, "Revoke", reason="it leaked")
    assert page.url.endswith("/organiser/owners")
    assert owners.known_by(arena.web.engine, token) is None


def test_a_submission_is_approved(organiser: OrganiserTab, arena: ManagedArena) -> None:
    page = organiser(True)
    page.goto(f"{arena.address}/organiser/submissions")
    send(page, "Approve", reason="its author is known")
    page.wait_for_url("**/organiser/submissions")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    approved = submissions.find_submission(arena.web.engine, arena.submission)
    assert approved.approval is Approval.APPROVED


def test_an_owner_starts_a_challenge_and_retires_a_version(
    browser: Browser, arena: ManagedArena
) -> None:
    page = arena.signed_in(browser, "owner")
    page.locator("summary", has_text="Retire a version").click()
    expect(page.get_by_role("link", name="Retire mybot", exact=True)).to_have_count(1)
    expect(page.get_by_role("link", name="Retire bob", exact=True)).to_have_count(0)
    page.locator("summary", has_text="Another challenge").click()
    send(page, "Start a challenge", bot="mybot", opponent="cy", boards="1")
    page.wait_for_url("**/tournaments/t-*")
    page.goto(f"{arena.address}/account")
    page.locator("summary", has_text="Retire a version").click()
    page.get_by_role("link", name="Retire mybot", exact=True).click()
    send(page, "Retire")
    page.wait_for_url("**/account")
    assert versions.find_version(arena.web.engine, "mybot@1").retired is not None
    send(page, "Sign out")
    page.goto(f"{arena.address}/account")
    page.wait_for_url("**/sign-in")
    page.context.close()


@in_every_look
def test_pages_of_organisers_and_owners_pass_the_accessibility_checks(
    browser: Browser,
    organiser: OrganiserTab,
    arena: ManagedArena,
    axe: str,
    looks: Sequence[Look],
) -> None:
    values = {"tournament": arena.closed_tournament, "match": arena.void_match}
    paths = {name: path.format(**values) for name, path in ORGANISER.items()}
    check_pages(organiser(True), arena.address, paths, looks, axe)
    check_pages(arena.signed_in(browser, "owner"), arena.address, OWNER, looks, axe)
