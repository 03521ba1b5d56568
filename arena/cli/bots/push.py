"""The command `pokearena bot push`: upload a bot to a remote arena."""

from __future__ import annotations

import http.client
import ipaddress
import json
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import quote, urlencode

import rich_click as click

from arena.bots import upload_archive, version_store
from arena.bots.bot import Bot
from arena.cli import completers, output
from arena.cli.errors import FAILED, INTERRUPTED, UNREACHABLE, USAGE, CommandError
from arena.cli.options import data_option, json_option, token_from_environment

# Client for submissions to a remote arena.


# HTTP requests to the remote arena.


_SECONDS: Final = 60.0
_LONGEST: Final = 2**20


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """A response of an arena.

    Attributes:
        status: HTTP status.
        content: members of the JSON object in its body.
        wait: seconds from the Retry-After header, if any.
    """

    status: int
    content: Mapping[str, Any]
    wait: float | None = None

    @property
    def sentence(self) -> str:
        """The reason of a rejection."""
        return str(self.content.get("error") or f"HTTP status {self.status}.")


class ArenaUnreachable(Exception):
    """The arena does not answer. The text is a clause."""


@dataclass(frozen=True, slots=True)
class RemoteArena:
    """A remote arena: the URL of its pages, and the user's token."""

    url: str
    token: str = field(repr=False)

    def ask(self, path: str, body: IO[bytes] | bytes | None = None, size: int = 0) -> ServerAnswer:
        """Send a GET request, or a POST request with a body, to the arena.

        Args:
            path: path and query.
            body: the body of a POST request; None sends a GET request.
            size: the body's length in bytes.

        Raises:
            ArenaUnreachable: the arena does not answer.
        """
        request = urllib.request.Request(f"{self.url}{path}")
        request.add_header("Accept", "application/json")
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("User-Agent", "pokearena")
        if body is not None:
            request.data = body
            request.add_header("Content-Type", "application/gzip")
            request.add_header("Content-Length", str(size))
        try:
            with _opener().open(request, timeout=_SECONDS) as answer:
                return _answer(answer)
        except urllib.error.HTTPError as error:
            with error:
                return _answer(error)
        except urllib.error.URLError as error:
            raise ArenaUnreachable(_reason(error.reason)) from None
        except (OSError, http.client.HTTPException) as error:
            raise ArenaUnreachable(_reason(error)) from None

    @property
    def is_open_to_listeners(self) -> bool:
        """Whether the token is transmitted unencrypted over a network."""
        parts = urllib.parse.urlsplit(self.url)
        return parts.scheme == "http" and not _is_here(parts.hostname or "")


def elsewhere(url: str, token: str, option: str) -> RemoteArena:
    """Return the arena at a URL.

    Raises:
        CommandError: the URL or the token is not valid.
    """
    parts = urllib.parse.urlsplit(url)
    try:
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good or parts.query or parts.fragment:
        raise CommandError(
            f'{option}: "{url}" is not a valid URL; write for example https://arena.example.org.',
            USAGE,
            code="invalid-url",
        )
    if parts.username or parts.password:
        raise CommandError(
            f"{option} must not contain a token; use POKEARENA_TOKEN or --token.",
            USAGE,
            code="token-in-url",
        )
    if not token.isascii() or not token.isprintable():
        raise CommandError(
            "invalid token: a token is one word. The organiser of the arena creates it.",
            USAGE,
            code="invalid-token",
        )
    return RemoteArena(url.rstrip("/"), token)


def cannot_reach(url: str, reason: str, advice: str = "") -> CommandError:
    """Return the error for an arena that does not answer."""
    return CommandError(
        f"cannot reach the arena at {url}: {reason}.", UNREACHABLE, advice, code="unreachable"
    )


class _Straight(urllib.request.HTTPRedirectHandler):
    """Rejects redirects: the token must be sent only to the configured arena."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_Straight)


def _answer(answer: Any) -> ServerAnswer:
    body = answer.read(_LONGEST)
    wait = answer.headers.get("Retry-After") or ""
    try:
        values = json.loads(body)
    except ValueError:
        values = {}
    if 300 <= answer.status < 400:
        values = {
            "error": (
                f"redirects to {answer.headers.get('Location', 'another address')}; "
                "use that address."
            )
        }
    return ServerAnswer(
        answer.status,
        values if isinstance(values, dict) else {},
        float(wait) if wait.isdigit() else None,
    )


def _reason(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "timeout"
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(reason).rstrip(".")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_PATIENCE_SECONDS: Final = 60.0
_FIRST_SECONDS: Final = 0.5
_LONGEST_SECONDS: Final = 5.0
_IN_MEMORY: Final = 4 * 2**20


@dataclass(frozen=True, slots=True)
class PackedBot:
    """A packed bot: name, version, content hash, size of its files, and the archive."""

    name: str
    version: str
    content: str
    contents: upload_archive.Contents
    file: IO[bytes]
    size: int

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "bot": self.name,
            "version": self.version or None,
            "content_hash": self.content,
            "files": self.contents.files,
            "bytes_unpacked": self.contents.bytes,
            "bytes": self.size,
        }


@contextmanager
def packed(bot: Bot) -> Iterator[PackedBot]:
    """Pack the files of a bot as they are uploaded.

    Raises:
        CommandError: the bot has no files.
        BotError: the files cannot be packed.
    """
    bot_manifest = bot.manifest
    if bot_manifest is None:
        raise CommandError(
            f"{bot.label} is a remote bot and has no files to push.", USAGE, code="remote-bot"
        )
    content = version_store.content_hash(bot)
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        contents = upload_archive.pack(bot, file)
        size = file.tell()
        file.seek(0)
        yield PackedBot(
            bot_manifest.name, bot_manifest.version or "", content, contents, file, size
        )


def send(arena: RemoteArena, what: PackedBot) -> Mapping[str, Any]:
    """Upload a packed bot unless the arena has it already; return the submission.

    Raises:
        CommandError: the arena does not answer, or rejects the bot with a sentence.
    """
    query = {"name": what.name, "content": what.content}
    path = "/submissions?" + urlencode(query | ({"version": what.version} if what.version else {}))
    known = _patient(arena, path)
    if "submission" in known.content:
        return known.content
    most = int(known.content.get("most_bytes") or 0)
    if what.size > most:
        raise CommandError(
            f"{what.name} has {what.size:,} bytes packed; {arena.url} accepts "
            f"at most {most:,}. Remove files that the bot does not need.",
            FAILED,
            code="too-large",
        )
    try:
        answer = arena.ask(path, what.file, what.size)
    except ArenaUnreachable as error:
        raise cannot_reach(arena.url, str(error), "") from None
    return _welcome(arena, answer).content


def look(arena: RemoteArena, submission: str) -> Mapping[str, Any]:
    """Return the state of a submission.

    Raises:
        CommandError: the arena does not answer or rejects the request.
    """
    return read_document(arena, f"/submissions/{quote(submission, safe='')}.json")


def read_document(arena: RemoteArena, path: str) -> Mapping[str, Any]:
    """Return the JSON document at a path of the arena.

    Raises:
        CommandError: the arena does not answer or rejects the request.
    """
    try:
        answer = arena.ask(path)
    except ArenaUnreachable as error:
        raise cannot_reach(arena.url, str(error)) from None
    return _welcome(arena, answer).content


def send_request(arena: RemoteArena, path: str) -> Mapping[str, Any]:
    """Send a POST request without a body and return the response.

    Raises:
        CommandError: the arena does not answer or rejects the request.
    """
    try:
        answer = arena.ask(path, b"")
    except ArenaUnreachable as error:
        raise cannot_reach(arena.url, str(error)) from None
    return _welcome(arena, answer).content


def follow(arena: RemoteArena, first: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the state of a submission repeatedly until it is decided.

    Raises:
        CommandError: the arena stopped answering, or Ctrl-C was pressed, which does not affect the
            submission.
    """
    name, state = str(first["submission"]), first
    pause, heard = _FIRST_SECONDS, time.monotonic()
    again = f"pokearena bot submission {name} --to {arena.url}"
    try:
        while True:
            yield state
            if state["state"] not in ("waiting", "running") or _awaits_approval(state):
                return
            time.sleep(pause)
            pause = min(pause * 1.3, _LONGEST_SECONDS)
            before = state
            try:
                state = look(arena, name)
                heard = time.monotonic()
                if state["stage"] != before["stage"]:
                    pause = _FIRST_SECONDS
            except CommandError as error:
                lost = error.status == UNREACHABLE
                if not lost or time.monotonic() - heard > _PATIENCE_SECONDS:
                    raise CommandError(str(error), error.status, again) from None
    except KeyboardInterrupt:
        raise CommandError(
            f"stopped watching; the arena continues to process {name}.",
            INTERRUPTED,
            again,
            code="stopped-watching",
        ) from None


def tell(
    arena: RemoteArena, states: Iterator[Mapping[str, Any]], as_json: bool, bot: str = "BOT"
) -> int:
    """Print the progress and the result of a submission.

    Args:
        arena: the arena.
        states: the states of the submission.
        as_json: whether to print only the last state, as JSON.
        bot: the bot as typed by the user.

    Returns:
        The exit status.
    """
    state: Mapping[str, Any] = {}
    shown = 0
    for state in states:
        begun = [step["stage"] for step in state["stages"] if step["state"] != "open"]
        if not as_json:
            for stage in begun[shown:]:
                output.hint(stage)
        # An interrupted stage is listed again.
        shown = max(shown, len(begun))
    if as_json:
        output.document(dict(state))
    else:
        _conclude(arena, state, bot)
    return 0 if state["state"] == "accepted" or _awaits_approval(state) else FAILED


def _awaits_approval(state: Mapping[str, Any]) -> bool:
    """Return whether the organiser must approve the submission, which can take days."""
    return bool(state.get("approval") == "waiting")


def _conclude(arena: RemoteArena, state: Mapping[str, Any], bot: str) -> None:
    if state["state"] == "accepted":
        output.line(str(state["sentence"]))
        output.hint(f"who can see what, limits, licence: {arena.url}/docs/author-policy")
        output.next_step(f"open {arena.url}/bots/{state['bot']}")
        return
    if _awaits_approval(state):
        output.line(f"all checks passed; {state['submission']} waits for the organiser's approval")
        output.next_step(f"pokearena bot submission {state['submission']} --to {arena.url}")
        return
    output.complain(f"refused at stage {state['stage']}: {state['sentence']}")
    if state.get("output"):
        output.hint("end of the output:")
        output.line(str(state["output"]).rstrip())
    output.next_step(f"pokearena test {bot}")


def _patient(arena: RemoteArena, path: str) -> ServerAnswer:
    """Send the preliminary request; retry for 10 s while the arena is starting."""
    until = time.monotonic() + _FIRST_SECONDS * 20
    while True:
        try:
            answer = arena.ask(path, b"")
        except ArenaUnreachable as error:
            raise cannot_reach(arena.url, str(error)) from None
        if answer.status != 503 or time.monotonic() > until:
            return _welcome(arena, answer)
        time.sleep(_FIRST_SECONDS)


def _welcome(arena: RemoteArena, answer: ServerAnswer) -> ServerAnswer:
    if answer.status < 300 and answer.content:
        return answer
    if answer.status < 300:
        raise CommandError(f"{arena.url} is not an arena: its response is not JSON.", UNREACHABLE)
    status = UNREACHABLE if answer.status >= 500 else FAILED
    raise CommandError(
        f"{arena.url} refused the request: {answer.sentence}", status, code="refused"
    )


to_option = click.option(
    "--to", envvar="POKEARENA_URL", metavar="URL", help="URL of the arena's web pages."
)
token_option = click.option(
    "--token",
    default=token_from_environment,
    metavar="TOKEN",
    help="Token of the owner, created by the organiser. Other users of this machine "
    "can read options; prefer POKEARENA_TOKEN, or POKEARENA_TOKEN_FILE with "
    "the path of a file.",
)


@click.command(epilog="Example: pokearena bot push mybot --to https://arena.example.org")
@click.argument("bot", metavar="BOT", shell_complete=completers.bots)
@to_option
@token_option
@click.option("--dry-run", is_flag=True, help="Show what would be sent, without sending it.")
@click.option("--no-wait", is_flag=True, help="Do not wait for the decision.")
@json_option
@data_option
def push(
    bot: str,
    to: str | None,
    token: str | None,
    dry_run: bool,
    no_wait: bool,
    as_json: bool,
    data: Path | None,
) -> int:
    """Upload a bot to an arena, which checks, builds, tests and rates it.

    Each content can be pushed once; changed content becomes the next version. Ctrl-C stops the
    display, not the submission.
    """

    from arena.cli.workspace import Workspace

    resolved = Workspace(data).bot(bot)
    if dry_run:
        with packed(resolved) as what:
            return _tell_packed(what, bot, as_json)
    arena = arena_at(to, token)
    with packed(resolved) as what:
        if not as_json:
            output.hint(f"{what.name} · {what.contents.files} files, {what.size:,} bytes packed")
        sent = send(arena, what)
    if not as_json:
        output.hint(f"submission {sent['submission']}")
    states = iter((sent,)) if no_wait else follow(arena, sent)
    if not no_wait:
        return tell(arena, states, as_json, bot)
    if as_json:
        output.document(dict(sent))
    else:
        output.line(str(sent["submission"]))
        output.next_step(f"pokearena bot submission {sent['submission']} --to {arena.url}")
    return 0


@click.command(epilog="Example: pokearena bot submission s-7f3k9q2xwd --to https://arena.org")
@click.argument("submission", metavar="ID")
@to_option
@token_option
@json_option
def submission(submission: str, to: str | None, token: str | None, as_json: bool) -> int:
    """Show the state of a submission until it is decided."""

    arena = arena_at(to, token)
    return tell(arena, follow(arena, look(arena, submission)), as_json)


def arena_at(to: str | None, token: str | None, option: str = "--to") -> RemoteArena:
    """Return the arena that the options for its URL and `--token` name.

    Raises:
        CommandError: one of them is missing or not valid.
    """
    if not to:
        raise CommandError(
            f"no arena given; use {option} URL or set POKEARENA_URL.", USAGE, code="no-url"
        )
    if not token:
        raise CommandError(
            "no token given; set POKEARENA_TOKEN or use --token. The organiser "
            "of the arena creates tokens.",
            USAGE,
            code="no-token",
        )
    arena = elsewhere(to, token, option)
    if arena.is_open_to_listeners:
        output.warn(f"the connection to {to} is not encrypted, so others can read the token.")
    return arena


def _tell_packed(what: PackedBot, bot: str, as_json: bool) -> int:
    if as_json:
        output.document(what.to_json())
        return 0
    output.line(f"bot      {what.name}{f'@{what.version}' if what.version else ''}")
    output.line(f"files    {what.contents.files}, {what.contents.bytes:,} bytes")
    output.line(f"packed   {what.size:,} bytes")
    output.line(f"content  {what.content}")
    output.next_step(f"pokearena bot push {bot} --to URL")
    return 0
