"""Test whole matches of hosted bots that use a model through the proxy."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import update

from arena.bots import resolver, version_store
from arena.config import Folder
from arena.ratings.call_figures import CallFigures
from arena.services.queue import redis_server
from arena.store import backup_file, database, schema
from arena.store.bots import model_grants, versions
from arena.store.bots.model_grants import Grantee
from arena.store.bots.version_files import keep
from arena.store.match_settings import Clock
from arena.store.matches import listing, model_calls
from arena.store.matches.model_calls import Caller, CallPlace
from arena.store.schema import MatchState
from arena.tournaments import scheduler
from tests.arena.cli.terminal import in_own_process
from tests.arena.poke_plan import poke_plan
from tests.arena.services.worker_host import WorkerHostHarness
from tests.sample_bots.scripted_endpoint import (
    ScriptedEndpoint,
    Send,
    data,
    scripted_endpoint,
)
from tests.waiting import wait_until

KEY = "key-of-the-organiser-f00d"
MODEL_BOT = Path("sample_bots/model")
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


def chosen(number: int = 0) -> Send:
    """Return a response that names a listed action."""
    message = {"content": json.dumps({"action": number, "note": "thought"})}
    body = {
        "id": "chatcmpl-secret",
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }
    return data(json.dumps(body).encode())


class ModelMatch:
    """An arena with a worker, and a match of a bot with a model against a house bot."""

    def __init__(self, directory: Path, redis: str, endpoint: ScriptedEndpoint) -> None:
        self.host = WorkerHostHarness(directory, redis)
        self.host.environment["ARENA_KEY"] = KEY
        self.endpoint = endpoint
        self.folder = directory / "mybot"
        shutil.copytree(MODEL_BOT, self.folder)
        manifest = self.folder / "bot.toml"
        text = manifest.read_text(encoding="utf-8").replace(
            '# models = ["small"]', 'models = ["small"]'
        )
        manifest.write_text(text, encoding="utf-8")
        self.write_models()

    def write_models(self, base_url: str = "", limits: str = "", top: str = "") -> None:
        """Write the `models.toml` of the worker's machine."""
        text = f"""
            {top}
            [models.small]
            base_url = "{base_url or self.endpoint.base_url}"
            model = "small-1"
            input_price = 1
            output_price = 2
            key = "ARENA_KEY"
            [limits]
            calls_per_minute = 100000
            table_tokens = 4000000
            repeat_seconds = 0.1
            {limits}
        """
        self.host.there.root.mkdir(mode=0o700, exist_ok=True)
        (self.host.there.root / "models.toml").write_text(text)

    def schedule(self, *, grant: bool = True) -> str:
        """Schedule the match, and return its id."""
        engine, entrants = self.host.engine, []
        for bot, owner in ((resolver.sample("meek"), ""), (resolver.local(self.folder), "ada")):
            bot = version_store.admit(bot, self.host.here.versions)
            keep(engine, bot)
            assert bot.manifest is not None
            name, values = bot.manifest.name, bot.manifest.stored_values()
            added = versions.add_version(
                engine, name, "1", bot.content, "/elsewhere", values, owner
            )
            entrants.append(added.id)
        if grant:
            model_grants.grant_model(engine, Grantee.OWNER, "ada", "small")
        scheduler.begin(engine, poke_plan(clock=Clock(60_000, 60_000)), entrants, bytes(32))
        [match] = listing.matches(engine)
        self.host.enqueue(match.id)
        return match.id

    @contextmanager
    def worker(self) -> Iterator[None]:
        with self.host.worker() as process:
            try:
                yield
            finally:
                process.terminate()

    def play(self, match: str) -> None:
        """Run a worker until a match is closed."""
        with self.worker():
            wait_until(lambda: self.state(match) is MatchState.CLOSED)

    def try_again(self, match: str, condition: Callable[[], bool]) -> None:
        """Enqueue a match without the pause after a failure, until a condition holds.

        A job that is enqueued before that of the last attempt has ended is lost.
        """
        matches = schema.matches
        with database.writing(self.host.engine) as connection:
            connection.execute(update(matches).where(matches.c.id == match).values(retry_at=None))

        def holds() -> bool:
            self.host.enqueue(match)
            return condition()

        wait_until(holds)

    def attempt(self, match: str) -> int:
        return listing.find_match(self.host.engine, match).attempt

    def state(self, match: str) -> MatchState:
        return listing.find_match(self.host.engine, match).state

    def faults(self, match: str) -> list[str]:
        rows = database.read_rows(
            self.host.engine,
            schema.faults.select().where(schema.faults.c.match == match),
        )
        return [str(row) for row in rows]

    def failures(self, match: str) -> list[tuple[str, int]]:
        query = schema.failures.select().where(schema.failures.c.match == match)
        return [(row.reason, row.counted) for row in database.read_rows(self.host.engine, query)]

    def actions(self, match: str) -> list[str]:
        """Return the actions of each game."""
        lines = map(json.loads, self.record(match).splitlines())
        return [json.dumps(line["action"]) for line in lines if "action" in line]

    def record(self, match: str) -> str:
        rows = database.read_rows(
            self.host.engine, schema.games.select().where(schema.games.c.match == match)
        )
        return "".join(row.record for row in rows)


@pytest.fixture
def model_match(tmp_path: Path) -> Iterator[ModelMatch]:
    with (
        redis_server.resolve(Folder(tmp_path / "redis-data"), {}) as address,
        scripted_endpoint(chosen()) as endpoint,
    ):
        created = ModelMatch(tmp_path, address.url, endpoint)
        yield created
        created.host.engine.dispose()


def test_a_hosted_bot_plays_a_match_with_a_model_and_its_key_is_found_nowhere(
    model_match: ModelMatch, tmp_path: Path
) -> None:
    match = model_match.schedule()
    model_match.play(match)
    assert model_match.faults(match) == []
    requests = model_match.endpoint.requests
    assert set(model_match.endpoint.keys) == {f"Bearer {KEY}"}
    assert "thought" in model_match.record(match)
    assert "default action" not in model_match.record(match)
    [used] = model_calls.match_usage(model_match.host.engine, match).values()
    assert used.input_tokens == 100 * len(requests)
    assert used.cost == pytest.approx(120e-6 * len(requests))
    by_decision = model_calls.decision_usage(model_match.host.engine, match, 0, None)
    record = map(json.loads, model_match.record(match).splitlines())
    decisions = {(line["game"], line.get("decision"), line.get("seat")) for line in record}
    assert by_decision
    assert {(place.game, place.decision, place.seat) for place in by_decision} <= decisions
    [today] = model_calls.recent_usage(model_match.host.engine)
    assert (today.model, today.calls, today.measured) == ("small", len(requests), len(requests))
    assert (today.owner, today.figures) == ("ada", used)
    files = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()]
    assert any(path.name.endswith(".models.jsonl") for path in files)
    backup = tmp_path / "backup"
    backup_file.backup(model_match.host.engine, backup, lambda *_: None)
    printed = in_own_process(
        tmp_path,
        ("models", "transcript", match, "--data", model_match.host.there.root),
        model_match.host.environment,
    )
    assert '"version": "starter-model@1"' in printed.out
    assert KEY not in printed.out
    holders = [path for path in (*files, backup) if KEY.encode() in path.read_bytes()]
    assert holders == []


def test_a_failing_model_pauses_the_match_and_charges_nobody(model_match: ModelMatch) -> None:
    answers = [chosen()] * 30 + [data(b"", 401)]
    model_match.endpoint.set_script(*answers)
    match = model_match.schedule()
    with model_match.worker():
        wait_until(lambda: model_match.failures(match))
        [(reason, counted)] = model_match.failures(match)
        assert "401" in reason
        assert KEY not in reason
        assert not counted
        assert model_match.state(match) is MatchState.PENDING
        model_match.endpoint.set_script(chosen())
        model_match.try_again(match, lambda: model_match.attempt(match) == 2)
        wait_until(lambda: model_match.state(match) is MatchState.CLOSED)
    assert model_match.faults(match) == []
    assert model_match.attempt(match) == 2


def test_stopped_calls_and_a_used_up_day_delay_a_match_until_they_are_allowed(
    model_match: ModelMatch,
) -> None:
    engine = model_match.host.engine
    assert model_calls.stop_calls(engine)
    assert not model_calls.stop_calls(engine)
    match = model_match.schedule()
    with model_match.worker():
        wait_until(lambda: "has stopped all calls" in model_match.host.log)
        assert model_calls.resume_calls(engine)
        caller = Caller("ada", "other@1", "m-other", 1, 0)
        day = CallFigures(20_000_000, 0)
        place = CallPlace(0)
        call = model_calls.reserve_call(engine, caller, place, "small", day, 20_000_000)
        model_match.try_again(match, lambda: "the rest of today's tokens" in model_match.host.log)
        found = listing.find_match(engine, match)
        assert (found.state, found.attempt) == (MatchState.PENDING, 0)
        assert model_match.endpoint.requests == []
        model_calls.settle_call(engine, call, CallFigures())
        model_match.try_again(match, lambda: model_match.attempt(match) == 1)
        wait_until(lambda: model_match.state(match) is MatchState.CLOSED)


def test_a_transcript_replays_a_match_with_equal_results_and_without_calls(
    model_match: ModelMatch, tmp_path: Path
) -> None:
    model_match.endpoint.set_script(*map(chosen, (0, 1, 0, 2, 0, 1, 1, 0)), chosen())
    match = model_match.schedule()
    model_match.play(match)
    calls = len(model_match.endpoint.requests)
    assert calls
    recorded = model_match.host.there.outputs / match
    again_folder = tmp_path / "again"
    again_folder.mkdir()
    again = ModelMatch(again_folder, model_match.host.redis, model_match.endpoint)
    again.write_models(top=f'transcripts = "{recorded}"')
    del again.host.environment["ARENA_KEY"]
    replayed = again.schedule()
    again.play(replayed)
    assert len(model_match.endpoint.requests) == calls
    assert again.actions(replayed) == model_match.actions(match)
    assert model_calls.match_usage(again.host.engine, replayed) == {}
    again.host.engine.dispose()


def test_a_version_without_a_grant_reaches_no_model(model_match: ModelMatch) -> None:
    match = model_match.schedule(grant=False)
    model_match.play(match)
    assert model_match.endpoint.requests == []
    assert model_match.faults(match) == []
    assert "default action" in model_match.record(match)
