"""The command `pokearena bot push`: upload a bot to a remote arena."""

from __future__ import annotations

import tempfile
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final

import rich_click as click

from arena.bots import upload_archive, version_store
from arena.bots.bot import Bot
from arena.cli import completers, output
from arena.cli.bots.arena_requests import content_of
from arena.cli.errors import FAILED, INTERRUPTED, UNREACHABLE, CommandError, usage_error
from arena.cli.options import data_option, json_option, required_token, token_from_environment
from arena.cli.workspace import Workspace

if TYPE_CHECKING:
    from arena.api_client import ApiAnswer, ArenaClient

_PATIENCE_SECONDS: Final = 60.0
_FIRST_SECONDS: Final = 0.5
_LONGEST_SECONDS: Final = 5.0
_QUEUE_PAUSE_SECONDS: Final = 60.0
"""The arena names at most this pause while submissions of the owner or of all are waiting."""
_IN_MEMORY: Final = 4 * 2**20


def elsewhere(url: str, token: str, option: str) -> ArenaClient:
    """Return the arena at a URL."""
    from arena.api_client import ArenaClient

    parts = urllib.parse.urlsplit(url)
    try:
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good or parts.query or parts.fragment:
        raise usage_error(
            f'{option}: "{url}" is not a valid URL; write for example https://arena.example.org.',
            "invalid-url",
        )
    if parts.username or parts.password:
        raise usage_error(
            f"{option} must not contain a token; use POKEARENA_TOKEN or --token.", "token-in-url"
        )
    if not token.isascii() or not token.isprintable():
        raise usage_error(
            "invalid token: a token is one word. The organiser of the arena creates it.",
            "invalid-token",
        )
    return ArenaClient(url.rstrip("/"), token)


@dataclass(frozen=True, slots=True)
class PackedBot:
    """A packed bot: name, version, content hash, size of its files, and the archive."""

    name: str
    version: str
    content: str
    contents: upload_archive.Contents
    file: IO[bytes]
    size: int
    models: tuple[str, ...] = ()

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
        BotError: the files cannot be packed.
    """
    bot_manifest = bot.manifest
    if bot_manifest is None:
        raise usage_error(f"{bot.label} is a remote bot and has no files to push.", "remote-bot")
    content = version_store.content_hash(bot)
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        contents = upload_archive.pack(bot, file)
        size = file.tell()
        file.seek(0)
        yield PackedBot(
            bot_manifest.name,
            bot_manifest.version or "",
            content,
            contents,
            file,
            size,
            bot_manifest.models,
        )


def send(
    arena: ArenaClient, what: PackedBot, on_cost: Callable[[Mapping[str, Any]], None]
) -> Mapping[str, Any]:
    """Upload a packed bot unless the arena has it already; return the submission.

    `on_cost` is called before the upload with what the examination may cost, if it uses models.
    """
    version = what.version or None
    known = content_of(
        arena,
        lambda: arena.push(
            name=what.name,
            content=what.content,
            version=version,
            models=",".join(what.models) or None,
        ),
        _QUEUE_PAUSE_SECONDS,
    )
    if "submission" in known:
        return known
    if known.get("examination"):
        on_cost(known["examination"])
    most = int(known.get("most_bytes") or 0)
    if what.size > most:
        raise CommandError(
            f"{what.name} has {what.size:,} bytes packed; {arena.url} accepts "
            f"at most {most:,}. Remove files that the bot does not need.",
            FAILED,
            code="too-large",
        )

    def upload() -> ApiAnswer:
        what.file.seek(0)
        files = what.file, what.size
        return arena.push(name=what.name, content=what.content, version=version, upload=files)

    return content_of(arena, upload, _QUEUE_PAUSE_SECONDS)


def look(arena: ArenaClient, submission: str) -> Mapping[str, Any]:
    """Return the state of a submission."""
    return content_of(arena, lambda: arena.get_submissions_id(submission))


def follow(arena: ArenaClient, first: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the state of a submission repeatedly until it is decided."""
    name, state = str(first["submission"]), first
    pause, answered = _FIRST_SECONDS, time.monotonic()
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
                answered = time.monotonic()
                if state["stage"] != before["stage"]:
                    pause = _FIRST_SECONDS
            except CommandError as error:
                lost = error.status == UNREACHABLE
                if not lost or time.monotonic() - answered > _PATIENCE_SECONDS:
                    raise CommandError(str(error), error.status, again) from None
    except KeyboardInterrupt:
        raise CommandError(
            f"stopped watching; the arena continues to process {name}.",
            INTERRUPTED,
            again,
            code="stopped-watching",
        ) from None


def _print_cost(cost: Mapping[str, Any]) -> None:
    words = f"at most {cost['most_tokens']:,} tokens of {', '.join(cost['models'])}"
    output.hint(f"examination: {words}, which cost at most {cost['most_cost']:.4f}")
    if earlier := cost.get("earlier"):
        used = f"{earlier['tokens']:,} tokens, which cost {earlier['cost']:.4f}"
        output.hint(f"a game of {earlier['version']} used {used} (measured)")


def show_states(
    arena: ArenaClient,
    states: Iterator[Mapping[str, Any]],
    as_json: bool,
    bot: str = "BOT",
    about: Mapping[str, Any] | None = None,
) -> int:
    """Print the progress and the result of a submission; return the exit status.

    With `as_json`, only the last state is printed, with the values in `about`.
    """
    state: Mapping[str, Any] = {}
    shown, shown_position = 0, ""
    for state in states:
        begun = [step["stage"] for step in state["stages"] if step["state"] != "open"]
        if not as_json:
            for stage in begun[shown:]:
                output.hint(stage)
            position = _waiting_words(state)
            if position not in ("", shown_position):
                output.hint(f"waiting, {position}")
            shown_position = position
        # An interrupted stage is listed again.
        shown = max(shown, len(begun))
    if as_json:
        output.document(dict(state) | dict(about or {}))
    else:
        _conclude(arena, state, bot)
    return 0 if state["state"] == "accepted" or _awaits_approval(state) else FAILED


def _waiting_words(state: Mapping[str, Any]) -> str:
    """Return the position of a submission behind others; empty if there is none.

    Arenas before this version send no position.
    """
    position = state.get("waiting")
    return str(position["words"]) if position and position["ahead"] else ""


def _awaits_approval(state: Mapping[str, Any]) -> bool:
    """Return whether the organiser must approve the submission, which can take days."""
    return bool(state.get("approval") == "waiting")


def _conclude(arena: ArenaClient, state: Mapping[str, Any], bot: str) -> None:
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
    workspace: Workspace,
) -> int:
    """Upload a bot to an arena, which checks, builds, tests and rates it.

    Each content can be pushed once; changed content becomes the next version. Ctrl-C stops the
    display, not the submission.
    """

    resolved = workspace.bot(bot)
    if dry_run:
        with packed(resolved) as what:
            return _print_packed(what, bot, as_json)
    arena = arena_at(to, token)
    with packed(resolved) as what:
        if not as_json:
            output.hint(f"{what.name} · {what.contents.files} files, {what.size:,} bytes packed")
        costs: list[Mapping[str, Any]] = []
        sent = send(arena, what, costs.append if as_json else _print_cost)
    if not as_json:
        output.hint(f"submission {sent['submission']}")
    states = iter((sent,)) if no_wait else follow(arena, sent)
    about = {"examination": costs[0]} if costs else {}
    if not no_wait:
        return show_states(arena, states, as_json, bot, about)
    if as_json:
        output.document(dict(sent) | about)
    else:
        if position := _waiting_words(sent):
            output.hint(f"waiting, {position}")
        output.line(str(sent["submission"]))
        output.next_step(f"pokearena bot submission {sent['submission']} --to {arena.url}")
    return 0


@click.command(
    epilog="Example: pokearena bot submission s-7f3k9q2xwd --to https://arena.example.org"
)
@click.argument("submission", metavar="ID")
@to_option
@token_option
@json_option
def submission(submission: str, to: str | None, token: str | None, as_json: bool) -> int:
    """Show the state of a submission until it is decided."""

    arena = arena_at(to, token)
    return show_states(arena, follow(arena, look(arena, submission)), as_json)


def arena_at(to: str | None, token: str | None, option: str = "--to") -> ArenaClient:
    """Return the arena that the options for its URL and `--token` name."""
    if not to:
        raise usage_error(f"no arena given; use {option} URL or set POKEARENA_URL.", "no-url")
    arena = elsewhere(to, required_token(token), option)
    if arena.is_open_to_listeners:
        output.warn(f"the connection to {to} is not encrypted, so others can read the token.")
    return arena


def _print_packed(what: PackedBot, bot: str, as_json: bool) -> int:
    output.result(
        as_json,
        what.to_json(),
        f"bot      {what.name}{f'@{what.version}' if what.version else ''}",
        f"files    {what.contents.files}, {what.contents.bytes:,} bytes",
        f"packed   {what.size:,} bytes",
        f"content  {what.content}",
        then=f"pokearena bot push {bot} --to URL",
    )
    return 0
