"""Organisers and owners manage the arena in the browser, with and without scripts."""

import json
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from arena.store.access import audit_log
from arena.store.bots import owners, submissions, versions
from arena.store.matches import listing
from arena.store.schema import Approval, MatchState
from arena.store.tournaments import tournaments
from tests.browser.conftest import keep
from tests.browser.management_site import ManagedArena, managed_arena, played_match
from tests.browser.test_accessibility import (
    CHECKED,
    OTHERS,
    WIDE,
    findings,
    too_wide_in_other_windows,
)

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
OPEN = "() => document.querySelectorAll('details').forEach((each) => { each.open = true; })"
PAGES = {
    "organiser": ORGANISER,
    "owner": {"account": "/account", "retire": "/account/retire?version=mybot@1"},
}


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagedArena]:
    with managed_arena(tmp_path_factory.mktemp("managed") / "data") as arena:
        yield arena


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def organiser(
    request: pytest.FixtureRequest, browser: Browser, arena: ManagedArena
) -> Iterator[BrowserContext]:
    context = arena.signed_in(browser, "organiser", java_script_enabled=request.param)
    yield context
    context.close()


def opened(context: BrowserContext, arena: ManagedArena, path: str) -> Page:
    page = context.new_page()
    page.goto(arena.address + path)
    return page


def send(page: Page, button: str, **values: str) -> None:
    """Fill in the form with this button and send it."""
    form = page.locator("form", has=page.get_by_role("button", name=button, exact=True))
    for name, value in values.items():
        form.locator(f"[name={name}]").fill(value)
    with page.expect_navigation():
        form.get_by_role("button", name=button, exact=True).click()


def test_a_refused_estimate_shows_the_reason(browser: Browser, arena: ManagedArena) -> None:
    refusal = "<main><h1>Error</h1><p>too many requests; retry in 9 s.</p></main>"
    context = arena.signed_in(browser, "organiser", java_script_enabled=True)
    page = opened(context, arena, "/organiser/tournaments/new")
    page.route(
        "**/organiser/tournaments/preview",
        lambda route: route.fulfill(status=429, content_type="text/html", body=refusal),
    )
    page.locator("input[value='bob@1']").check()
    expect(page.locator("#estimate")).to_contain_text("retry in 9 s")
    context.close()


def test_a_tournament_is_created_from_the_form_and_managed(
    organiser: BrowserContext, arena: ManagedArena
) -> None:
    page = opened(organiser, arena, "/organiser/tournaments/new")
    for bot in ("mybot@1", "bob@1", "cy@1"):
        page.locator(f"input[value='{bot}']").check()
    page.locator("[name=boards]").fill("1")
    page.locator("summary", has_text="Further").click()
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
    page.get_by_role("link", name=f"Replay {match}").click()
    send(page, "Replay the match", reason="a power cut")
    page.wait_for_url("**/organiser/matches/m-*")
    again = page.url.rpartition("/")[2]
    assert listing.find_match(arena.web.engine, match).state is MatchState.VOID
    assert listing.find_match(arena.web.engine, again).replay == 1
    page.goto(f"{arena.address}/matches/{match}")
    expect(page.get_by_role("link", name=again)).to_have_attribute("href", f"/matches/{again}")
    page.goto(f"{arena.address}/organiser/tournaments/{name}")
    page.get_by_role("link", name="Withdraw cy@1").click()
    send(page, "Withdraw", reason="it is slow")
    page.get_by_role("link", name="Cancel …").click()
    send(page, "Cancel the tournament", reason="rain")
    expect(page.get_by_role("link", name="Cancel …")).to_have_count(0)
    assert tournaments.find_tournament(arena.web.engine, name).state == "cancelled"
    logged = {entry.action for entry in audit_log.list_entries(arena.web.engine, subject=name)}
    assert logged >= {"tournament.start", "tournament.withdraw", "tournament.cancel"}


def test_a_token_is_shown_once_and_revoked(organiser: BrowserContext, arena: ManagedArena) -> None:
    page = opened(organiser, arena, "/organiser/owners")
    send(page, "Issue a token", name="owen")
    token = page.locator("dd code").nth(1).inner_text()
    assert owners.known_by(arena.web.engine, token) == "owen"
    page.goto(f"{arena.address}/organiser/owners")
    assert token not in page.content()
    page.get_by_role("link", name="Revoke the token of owen").click()
    send(page, "Revoke", reason="it leaked")
    assert page.url.endswith("/organiser/owners")
    assert owners.known_by(arena.web.engine, token) is None


def test_a_submission_is_approved(browser: Browser, arena: ManagedArena) -> None:
    context = arena.signed_in(browser, "organiser")
    page = opened(context, arena, "/organiser/submissions")
    send(page, "Approve", reason="its author is known")
    page.wait_for_url("**/organiser/submissions")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    approved = submissions.find_submission(arena.web.engine, arena.submission)
    assert approved.approval is Approval.APPROVED
    context.close()


def test_an_owner_starts_a_challenge_and_retires_a_version(
    browser: Browser, arena: ManagedArena
) -> None:
    context = arena.signed_in(browser, "owner")
    page = opened(context, arena, "/account")
    expect(page.get_by_role("link", name="Retire mybot@1")).to_have_count(1)
    expect(page.get_by_role("link", name="Retire bob@1")).to_have_count(0)
    page.locator("summary", has_text="Another challenge").click()
    send(page, "Start a challenge", bot="mybot", opponent="cy", boards="1")
    page.wait_for_url("**/tournaments/t-*")
    page.goto(f"{arena.address}/account")
    page.get_by_role("link", name="Retire mybot@1").click()
    send(page, "Retire")
    page.wait_for_url("**/account")
    assert versions.find_version(arena.web.engine, "mybot@1").retired is not None
    send(page, "Sign out")
    page.goto(f"{arena.address}/account")
    page.wait_for_url("**/sign-in")
    context.close()


@pytest.mark.parametrize(
    ("colours", "size"),
    [
        *CHECKED,
        *(pytest.param(*each, marks=pytest.mark.repetition) for each in OTHERS),
    ],
)
def test_pages_of_organisers_and_owners_pass_the_accessibility_checks(
    browser: Browser,
    arena: ManagedArena,
    axe: str,
    colours: Literal["light", "dark"],
    size: tuple[int, int],
) -> None:
    wrong: dict[str, Any] = {}
    values = {"tournament": arena.closed_tournament, "match": arena.void_match}
    window: Any = {"width": size[0], "height": size[1]}
    for role, paths in PAGES.items():
        context = arena.signed_in(
            browser, role, viewport=window, color_scheme=colours, reduced_motion="reduce"
        )
        for name, path in paths.items():
            page = opened(context, arena, path.format(**values))
            page.evaluate(OPEN)
            keep(page, f"{name}-{size[0]}-{colours}")
            violations = findings(page, axe)["violations"]
            too_wide = page.evaluate(WIDE)
            if violations or too_wide > 0:
                wrong[name] = violations + [f"{too_wide} px too wide"] * (too_wide > 0)
            elif others := too_wide_in_other_windows(page):
                wrong[name] = others
            page.close()
        context.close()
    assert not wrong, json.dumps(wrong, indent=1)
