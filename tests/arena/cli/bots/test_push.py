"""`pokearena bot push`: a bot is sent to an arena at a URL, tested and entered there."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from arena.ratings.call_figures import CallFigures
from arena.store.bots import model_grants, owners, submissions, versions
from arena.store.bots.model_grants import Grantee
from arena.store.matches import model_calls
from arena.store.matches.model_calls import Caller, CallPlace
from arena.store.tournaments import tournaments
from arena.submissions import turns
from arena.submissions.conformance.check import Check, CheckOutcome
from arena.submissions.pipeline import SubmissionPipeline
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.terminal import Cli
from tests.arena.submissions.submission_harness import SubmissionHarness
from tests.arena.web.page_server import served
from tests.waiting import wait_until

MODELS = """
[models.small]
base_url = "https://api.example.org/v1"
model = "small-1"
input_price = 1
output_price = 2
[limits]
table_tokens = 50_000
"""


class PushArena:
    """An arena at a URL; `open` starts the processing of uploads."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        folder.mkdir()
        self.folder = folder
        self.submission_harness = SubmissionHarness(folder)
        self.token = owners.add_owner(self.submission_harness.engine, "ada")
        settings = ServerSettings(
            rate=0,
            pending_uploads=self.submission_harness.pending_uploads,
            push_mib=1,
            data=folder,
        )
        self.url = stack.enter_context(served(WebState(self.submission_harness.engine, settings)))
        self._stack = stack

    def open(self) -> None:
        """Process uploads until the test ends.

        In a thread: a fork of this process, in which a web server runs, could inherit a lock of
        SQLite. `tests/arena/submissions` tests the processes of `arena.submissions.runner`.
        """
        ended = threading.Event()
        working = threading.Thread(target=_handle, args=(self.submission_harness.pipeline, ended))
        working.start()
        self._stack.callback(working.join)
        self._stack.callback(ended.set)
        wait_until(lambda: self.submission_harness.pending_uploads.is_attended)


def _handle(pipeline: SubmissionPipeline, ended: threading.Event) -> None:
    with pipeline.pending_uploads.create().attended():
        while not ended.wait(0.02):
            for submission in turns.due(pipeline.engine):
                pipeline.work(submission.id)


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PushArena]:
    with ExitStack() as stack:
        arena = PushArena(tmp_path / "arena", stack)
        monkeypatch.setenv("POKEARENA_TOKEN", arena.token)
        yield arena


def test_a_push_to_a_ladder_prints_every_stage(
    cli: Cli, arena: PushArena, bot_folder: Path
) -> None:
    ladder = arena.submission_harness.ladder(open=True)
    arena.open()
    result = cli("bot", "push", "mine", "--to", arena.url)
    assert (result.status, result.out) == (0, f"mine@1 is on the ladder poke ({ladder.id}).\n")
    lines = result.err.splitlines()
    assert lines[0].startswith("mine · 2 files, ")
    assert lines[2:7] == ["received", "checking", "building", "testing", "entering"]
    assert result.last.endswith(f"{arena.url}/bots/mine")
    name = lines[1].removeprefix("submission ")
    again = cli("bot", "submission", name, "--to", arena.url, "--json")
    assert again.json["version"] == "mine@1"
    (bot_folder / "bot.py").write_text("import os\n")
    document = cli("bot", "push", "mine", "--to", arena.url, "--json").json
    assert (document["state"], document["version"]) == ("accepted", "mine@2")


def test_a_push_prints_what_the_examination_may_cost(
    cli: Cli, arena: PushArena, bot_folder: Path
) -> None:
    toml, engine = bot_folder / "bot.toml", arena.submission_harness.engine
    toml.write_text(f'models = ["small", "large"]\n{toml.read_text()}')
    (arena.folder / "models.toml").write_text(MODELS)
    push = ("bot", "push", "mine", "--to", arena.url, "--no-wait")
    with arena.submission_harness.pending_uploads.create().attended():
        assert "examination" not in cli(*push, "--json").json
        model_grants.grant_model(engine, Grantee.OWNER, "ada", "small")
        for version, tokens in (("mine@1", 900), ("mine@2", 100), ("mine@2", 300)):
            caller, place = Caller("ada", version, f"m-{tokens}", 1, 0), CallPlace(0, 0, 4)
            figures = CallFigures(tokens, 10, tokens / 1000)
            model_calls.reserve_call(engine, caller, place, "small", figures, 1_000_000)
        (bot_folder / "bot.py").write_text("import os\n")
        assert cli(*push, "--json").json["examination"] == {
            "models": ["small"],
            "most_tokens": 50_000,
            "most_cost": pytest.approx(0.1),
            "earlier": {"version": "mine@2", "tokens": 210, "cost": pytest.approx(0.2)},
        }
        (bot_folder / "bot.py").write_text("import sys\n")
        lines = cli(*push).err.splitlines()
        [most, measured] = [n for n, line in enumerate(lines) if "which cost" in line]
        [sent] = [n for n, line in enumerate(lines) if line.startswith("submission s-")]
        assert most < measured < sent


def test_a_refusal_has_an_error_code(cli: Cli, arena: PushArena, bot_folder: Path) -> None:
    arena.open()
    assert cli("bot", "push", "mine", "--to", arena.url).status == 0
    result = cli("bot", "push", "mine", "--to", f"{arena.url}/")
    assert result.status == 1
    assert result.code == "refused"
    assert "mine@1" in result.err
    wrong = cli("bot", "push", "mine", "--to", arena.url, "--token", "wrong")
    assert (wrong.status, wrong.code) == (1, "refused")
    large = bot_folder / "large"
    large.write_bytes(bytes(range(256)) * 4096)
    (bot_folder / "more").write_bytes(os.urandom(2**20))
    result = cli("bot", "push", "mine", "--to", arena.url)
    assert result.status == 1
    assert result.code == "too-large"


def test_an_owner_retires_a_version_in_a_remote_arena(
    cli: Cli, arena: PushArena, bot_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder = arena.submission_harness.ladder(open=True)
    arena.open()
    assert cli("bot", "push", "mine", "--to", arena.url).status == 0
    before = [cli("bot", "retire", words, "--to", arena.url) for words in ("greedy@1", "mine@9")]
    assert [(output.status, output.code) for output in before] == [(1, "refused")] * 2
    assert cli("bot", "retire", "mine", "--to", arena.url).code == "invalid-version"
    document = cli("bot", "retire", "mine@1", "--to", arena.url, "--json").json
    assert (document["version"], document["withdrawn"]) == ("mine@1", [ladder.id])
    assert versions.find_version(arena.submission_harness.engine, "mine@1").retired is not None
    (entry,) = (
        entry
        for entry in tournaments.find_tournament(arena.submission_harness.engine, ladder.id).entries
        if entry.name == "mine@1"
    )
    assert entry.withdrawn is not None
    again = cli("bot", "retire", "mine@1", "--to", arena.url)
    assert (again.status, again.out) == (0, "mine@1 is retired\n")
    monkeypatch.setenv("POKEARENA_TOKEN", "unknown")
    assert cli("bot", "retire", "mine@1", "--to", arena.url).code == "refused"


def test_a_failed_check_prints_the_output_of_the_bot(
    cli: Cli, arena: PushArena, bot_folder: Path
) -> None:
    bad = Check("plays", CheckOutcome.FAILED, "it led nothing.", "poke", output="KeyError: 4c\n")
    arena.submission_harness.checks = [bad]
    arena.open()
    result = cli("bot", "push", "mine", "--to", arena.url)
    assert result.status == 1
    assert '"plays" (poke)' in result.err
    assert result.last == "next  pokearena test mine"
    assert result.out.splitlines() == ["KeyError: 4c"]


def test_a_submission_can_be_watched_again_after_no_wait(
    cli: Cli, arena: PushArena, bot_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = arena.submission_harness
    with harness.pending_uploads.attended():
        for owner in ("bob", "cy"):
            other = harness.push(harness.bot(f"bot-{owner}"), owner)
            submissions.take_up(harness.engine, other.id)
        result = cli("bot", "push", "mine", "--to", arena.url, "--no-wait")
        name = result.out.strip()
        assert (result.status, result.last) == (
            0,
            f"next  pokearena bot submission {name} --to {arena.url}",
        )
        assert "waiting, 2 ahead of it" in result.err.splitlines()
        shown = cli("bot", "push", "mine", "--to", arena.url, "--no-wait", "--json").json
        assert shown["waiting"]["ahead"] == 2

        def interrupt(seconds: float) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr("arena.cli.bots.push.time.sleep", interrupt)
            stopped = cli("bot", "push", "mine", "--to", arena.url)
        assert (stopped.status, stopped.last) == (130, result.last)
        assert stopped.code == "stopped-watching"
    arena.open()
    assert cli("bot", "submission", name, "--to", arena.url).status == 0
    assert len(submissions.list_submissions(harness.engine, owner="ada")) == 1


def test_a_push_that_needs_approval_ends_with_the_tests(
    cli: Cli, arena: PushArena, bot_folder: Path
) -> None:
    arena.submission_harness.pipeline = replace(
        arena.submission_harness.pipeline, needs_approval=True
    )
    arena.open()
    pushed = cli("bot", "push", str(bot_folder), "--to", arena.url, "--json")
    state = pushed.json
    assert (pushed.status, state["state"], state["approval"]) == (0, "waiting", "waiting")
    here = ("--data", str(arena.submission_harness.workspace.folder.root))
    listed = cli("bot", "approvals", "--json", *here).json
    assert listed["submission"] == state["submission"]
    assert cli("bot", "refuse", state["submission"], *here).status == 2
    approved = cli(
        "bot", "approve", state["submission"], "--json", "--reason", "a test", *here
    ).json
    assert approved["approval"] == "approved"
    watched = cli("bot", "submission", state["submission"], "--to", arena.url, "--json")
    assert (watched.status, watched.json["state"]) == (0, "accepted")
    again = cli("bot", "refuse", state["submission"], "--reason", "late", *here)
    assert again.status == 1


def test_a_closed_and_an_unreachable_arena_have_different_codes(
    cli: Cli, arena: PushArena, bot_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.cli.bots.arena_requests._STARTING_SECONDS", 0.0)
    closed = cli("bot", "push", "mine", "--to", arena.url)
    assert (closed.status, closed.code) == (3, "refused")
    # A port that is reserved and refuses connections.
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        gone = cli("bot", "push", "mine", "--to", address)
    assert (gone.status, gone.code) == (3, "unreachable")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--to", "arena.example.org"), "invalid-url"),
        (("--to", "https://ada:secret@arena.example.org"), "token-in-url"),
        ((), "no-url"),
        (("--to", "http://127.0.0.1:1", "--token", ""), "no-token"),
        (("--to", "http://127.0.0.1:1", "--token", "a\nb"), "invalid-token"),
    ],
)
def test_a_wrong_address_or_token_is_wrong_usage(
    cli: Cli, bot_folder: Path, words: tuple[str, ...], code: str
) -> None:
    result = cli(
        "bot", "push", "mine", *(words if "--token" in words else (*words, "--token", "x"))
    )
    assert (result.status, result.code) == (2, code)
    assert "secret" not in result.out


def test_a_dry_run_lists_the_upload(cli: Cli, bot_folder: Path) -> None:
    result = cli("bot", "push", "mine", "--dry-run")
    assert result.status == 0
    document = cli("bot", "push", "mine", "--dry-run", "--json").json
    assert document["content_hash"] in result.out
    assert (document["bot"], document["files"]) == ("mine", 2)
    stored = cli("bot", "add", "mine", "--json").json
    assert stored["content_hash"] == document["content_hash"]
    remote = cli("bot", "push", "grpc://127.0.0.1:7000", "--dry-run")
    assert (remote.status, remote.code) == (2, "remote-bot")
