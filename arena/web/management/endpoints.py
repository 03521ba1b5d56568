"""Endpoints of the management pages and actions: sign-in, pages, forms and API operations."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from arena.bots.version_store import MOST_FILES
from arena.errors import Conflict, NotFound, StoreError, TooMany, Unreachable
from arena.store.access import audit_log, sessions
from arena.store.access.audit_log import Actor, AuditEntry, Origin
from arena.store.access.sessions import Role
from arena.web.data.web_state import WebState
from arena.web.management import access as accesses
from arena.web.management.access import FORM_TOKEN, Access
from arena.web.management.account_actions import ACCOUNT
from arena.web.management.action import Action, ActionRequest, ActionResult
from arena.web.management.actions import ACTIONS
from arena.web.management.pages import PAGES, ManagementPage
from arena.web.page import InvalidQuery, Page, PageRequest
from arena.web.serving import data_formats, downloads, html_pages
from arena.web.serving.error_responses import status_and_sentence, without_command
from arena.web.serving.page_kinds import KINDS
from arena.web.serving.request_limits import BROWSER_PUSH, PUSH
from arena.web.serving.responses import Endpoint, PageEndpoints
from arena.web.serving.root_path import links_of
from arena.web.serving.security import bearer_of, check_form_origin, form_of, form_pairs_of
from arena.web.serving.uploads import UPLOAD, UploadEndpoint, packing_of
from referee.games.contract import SetupError
from referee.sanitizing import one_line

SIGN_IN: Final = "/sign-in"
SIGN_OUT: Final = "/sign-out"
SITE: Final = "/organiser/tournaments/{id}/site.zip"
_HOME: Final = {Role.ORGANISER: "/organiser", Role.OWNER: "/account"}
_PRIVATE: Final = {"Cache-Control": "no-store"}
_TOKEN_LETTERS: Final = 200


class RefusedField(HTTPException):
    """A refused request; `place` is the input of the form that is wrong, if it is known."""

    def __init__(self, status: int, sentence: str, place: str) -> None:
        super().__init__(status, sentence)
        self.place = place


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a form is shown again.

    Args:
        name: the name of the action of the form.
        place: the wrong input; empty if it is unknown.
    """

    name: str
    sentence: str
    place: str
    sent: Mapping[str, str]


class ManagementEndpoints:
    """The endpoints of organisers and owners."""

    def __init__(self, web: WebState, serving: PageEndpoints, uploads: UploadEndpoint) -> None:
        self._web = web
        self._serving = serving
        self._uploads = uploads
        self._one_site = anyio.CapacityLimiter(1)

    def routes(self) -> list[Route]:
        """Return the routes of all pages and actions."""
        failing = self._serving.failing
        routes = [
            Route(SIGN_IN, failing(self._sign_in_page)),
            Route(SIGN_IN, failing(self._sign_in), methods=["POST"]),
            Route(SIGN_OUT, failing(self._sign_out), methods=["POST"]),
        ]
        routes += [
            Route(action.path, failing(self._action_endpoint(action)), methods=["POST"])
            for action in ACTIONS
        ]
        routes.append(Route(BROWSER_PUSH, failing(self._upload), methods=["POST"]))
        routes.append(Route(SITE, failing(self._site)))
        return [*routes, *(Route(page.path, failing(self._page_endpoint(page))) for page in PAGES)]

    async def _upload(self, request: Request) -> Response:
        """Receive a bot as a zip archive or as the files of a folder, from a form."""
        access = await self._required_access(request, Role.OWNER)
        if access is None:
            return _redirect(request, SIGN_IN)
        if not access.secret:
            raise HTTPException(403, f"programs push bots to {PUSH}.")
        async with request.form(max_files=MOST_FILES + 1, max_fields=10) as form:
            self._check_form(request, access, str(form.get(FORM_TOKEN, "")))
            pack = packing_of([each for _, each in form.multi_items() if not isinstance(each, str)])
            try:
                submission = await self._uploads.receive_files(access.identity.name, pack)
            except HTTPException as error:
                return await anyio.to_thread.run_sync(
                    self._form_again, request, (UPLOAD, ACCOUNT, error, {}), access
                )
        return _redirect(request, f"/submissions/{submission.id}")

    async def _site(self, request: Request) -> Response:
        """Send a tournament as a static site."""
        access = await self._required_access(request, Role.ORGANISER)
        if access is None:
            return _redirect(request, SIGN_IN)
        packed = await anyio.to_thread.run_sync(
            downloads.pack_site, self._web, request.path_params["id"], limiter=self._one_site
        )
        return downloads.archive_response(packed, "application/zip", _PRIVATE)

    async def _sign_in_page(self, request: Request) -> Response:
        access = await self._access(request)
        return _html(request, Page("Sign in", "management/sign_in.html", {}), access)

    async def _sign_in(self, request: Request) -> Response:
        """Open a session. The earlier session of the browser ends, against session fixation."""
        check_form_origin(request, proxied=self._web.settings.proxied)
        token = (await form_of(request)).get("token", "").strip()[:_TOKEN_LETTERS]
        earlier = accesses.cookie_of(request)
        opened = await anyio.to_thread.run_sync(self._open_session, token, earlier)
        if opened is None:
            raise HTTPException(
                401,
                "invalid token; organisers issue tokens to owners, and the operator of the arena "
                "to organisers.",
            )
        secret, role = opened
        response = _redirect(request, _HOME[role])
        accesses.set_cookie(request, response, secret, proxied=self._web.settings.proxied)
        return response

    def _open_session(self, token: str, earlier: str) -> tuple[str, Role] | None:
        """Open a session, with an entry in the audit log; None if the token is not valid.

        Returns:
            The secret of the session, for the cookie, and the role of its holder.
        """
        identity = sessions.known_by(self._web.engine, token)
        if identity is None:
            return None
        actor = Actor(identity.name, str(identity.role), Origin.PAGES)
        entry = AuditEntry(actor, audit_log.SIGN_IN, identity.name)
        with audit_log.audited(self._web.engine, entry):
            opened = sessions.sign_in(self._web.engine, token, earlier)
        return (opened[0], opened[1].role) if opened else None

    async def _sign_out(self, request: Request) -> Response:
        access = await self._access(request)
        if access is not None and access.secret:
            form = await form_of(request)
            self._check_form(request, access, form.get(FORM_TOKEN, ""))
            await anyio.to_thread.run_sync(sessions.sign_out, self._web.engine, access.secret)
        response = _redirect(request, "/")
        accesses.set_cookie(request, response, "", proxied=self._web.settings.proxied)
        return response

    def _check_form(self, request: Request, access: Access, sent: str) -> None:
        accesses.check_form(request, access, sent, proxied=self._web.settings.proxied)

    def _page_endpoint(self, page: ManagementPage) -> Endpoint:
        async def show(request: Request) -> Response:
            access = await self._required_access(request, page.role)
            if access is None:
                return _redirect(request, SIGN_IN)
            query = {
                name: request.query_params[name]
                for name, _ in page.query
                if name in request.query_params
            }
            page_request = PageRequest(dict(request.path_params), query, links_of(request))
            try:
                content = await anyio.to_thread.run_sync(page.draw, self._web, page_request, access)
            except NotFound as error:
                if page.confirms is None or not page.confirms.begins or not access.secret:
                    raise
                refused = page.confirms.name, page.confirms.begins, error, query
                return await anyio.to_thread.run_sync(self._form_again, request, refused, access)
            if request.state.kind == "json" or not access.secret:
                if content.data is None:
                    raise HTTPException(406, "Not available as JSON. Available formats: HTML.")
                body = data_formats.as_json(content)
                return Response(body, 200, {**content.headers, **_PRIVATE}, KINDS["json"])
            return self._html(request, content, access)

        return show

    def _action_endpoint(self, action: Action) -> Endpoint:
        async def act(request: Request) -> Response:
            if bearer_of(request) is not None:
                request.state.error_kind = "json"
            access = await self._required_access(request, action.role)
            if access is None:
                return _redirect(request, SIGN_IN)
            sent = action.joined(await form_pairs_of(request)) if access.secret else {}
            self._check_form(request, access, sent.pop(FORM_TOKEN, ""))
            try:
                with _refusals(action):
                    values = action.form_values(sent) if access.secret else await _values(request)
                path = dict(request.path_params)
                action_request = ActionRequest(self._web, access.actor, path, values, sent)
                result = await anyio.to_thread.run_sync(run_audited, action, action_request)
            except (HTTPException, NotFound) as error:
                if not access.secret:
                    raise
                refused = action.name, action.form_path, error, sent
                return await anyio.to_thread.run_sync(self._form_again, request, refused, access)
            self._web.nudge()
            return _response(request, action, result, access)

        return act

    def _form_again(
        self,
        request: Request,
        refused: tuple[str, str, HTTPException | NotFound, Mapping[str, str]],
        access: Access,
    ) -> Response:
        """Return the form of a refused request with the sent values and the reason.

        The form is drawn as its page is, with the sent values as the query.
        """
        name, address, error, sent = refused
        status, sentence, headers = status_and_sentence(request, error)
        (form,) = (page for page in PAGES if page.path == address)
        path = dict(request.path_params)
        try:
            page = form.draw(self._web, PageRequest(path, sent, links_of(request)), access)
        except (HTTPException, NotFound, InvalidQuery):
            # The object of the page does not exist.
            raise error from None
        place = error.place if isinstance(error, RefusedField) else ""
        if isinstance(error, NotFound):
            (action,) = (each for each in ACTIONS if each.name == name)
            place = action.place_of(error)
        refusal = Refusal(name, one_line(sentence), place, sent)
        model = {**page.model, "refusal": refusal}
        page = replace(page, model=model, status=status, headers=headers)
        return self._html(request, page, access)

    def _html(self, request: Request, page: Page, access: Access) -> Response:
        return _html(request, replace(page, lone_bots=self._web.snapshot.lone_bots), access)

    async def _required_access(self, request: Request, role: Role) -> Access | None:
        """Return the sender, or None if a browser should sign in first.

        Raises:
            HTTPException: 401 without a valid token; 403 with another role.
        """
        access = await self._access(request)
        if access is not None:
            accesses.check_role(access, role)
            return access
        is_program = bearer_of(request) is not None or request.state.error_kind == "json"
        if not is_program:
            return None
        raise HTTPException(
            401,
            "missing or invalid token; send it as Authorization: Bearer TOKEN.",
            {"WWW-Authenticate": "Bearer"},
        )

    async def _access(self, request: Request) -> Access | None:
        return await anyio.to_thread.run_sync(accesses.find_access, request, self._web.engine)


def _response(request: Request, action: Action, result: ActionResult, access: Access) -> Response:
    """Return the response for a successful action: JSON for programs, a page for browsers."""
    if not access.secret:
        status = 201 if action.created else 200
        has_page = action.created and result.page
        where = {"Location": links_of(request).within(result.page)} if has_page else {}
        return JSONResponse(dict(result.values), status, {**where, **_PRIVATE})
    if result.page:
        return _redirect(request, result.page)
    model = {"values": result.values, "action": action, **result.model}
    return _html(request, Page(action.label, result.template, model), access)


def _html(request: Request, page: Page, access: Access | None) -> Response:
    page = replace(page, model={"refusal": None, "access": access, **page.model})
    body = html_pages.html(page, links_of(request), viewer=access and access.identity)
    return Response(body, page.status, {**page.headers, **_PRIVATE}, KINDS["html"])


def _redirect(request: Request, path: str) -> Response:
    return RedirectResponse(links_of(request).within(path), 303, _PRIVATE)


def run_audited(action: Action, request: ActionRequest) -> ActionResult:
    """Run an action, with its entry in the audit log if it is `audited`; raises HTTPException."""
    with _refusals(action):
        action.check(request)
        if not action.audited:
            return action.run(request)
        reason = request.text("reason")
        subject, details = action.subject(request), action.details(request)
        entry = AuditEntry(request.actor, action.name, subject, reason, details)
        with audit_log.audited(request.web.engine, entry):
            return action.run(request)


@contextlib.contextmanager
def _refusals(action: Action) -> Iterator[None]:
    """Convert the refusal of an action to an HTTPException."""
    try:
        yield
    except (NotFound, Unreachable):
        raise
    except TooMany as error:
        raise HTTPException(429, str(error), {"Retry-After": str(error.wait)}) from None
    except Conflict as error:
        raise RefusedField(409, without_command(error), action.place_of(error)) from None
    except (StoreError, SetupError) as error:
        raise RefusedField(422, str(error), action.place_of(error)) from None


async def _values(request: Request) -> dict[str, Any]:
    """Return the JSON object of a program; raises HTTPException 422 for another body."""
    body = await request.body()
    if not body:
        return {}
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise HTTPException(422, "the body must be a JSON object.")
    return values
