"""Models of a `models.toml` on the machine of an author: `play`, `test`, and the transcript."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.arena.cli.terminal import Cli, CommandResult
from tests.sample_bots.scripted_endpoint import ScriptedEndpoint, data, scripted_endpoint

MODELS = """
{top}
[models.small]
base_url = "{url}"
model = "small-1"
input_price = 1
output_price = 2
{key}
[limits]
calls_per_minute = 100000
"""
KEY = "key-of-an-author-c0de"
PLAY = ("play", "pouku", "mybot", "sample:random", "sample:random", "--seed", "7", "--json")
CLOCK = ("--allowance", "30000")
REPLY = data(
    json.dumps(
        {
            "choices": [{"message": {"content": '{"action": 1, "note": "thought"}'}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10},
        }
    ).encode()
)
pytestmark = pytest.mark.long


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with scripted_endpoint(REPLY) as served:
        yield served


@pytest.fixture
def bot(cli: Cli) -> Path:
    assert cli("new", "mybot", "--model").status == 0
    manifest = Path("mybot/bot.toml")
    text = manifest.read_text().replace('# models = ["small"]', 'models = ["small"]')
    manifest.write_text(text)
    return manifest.parent


def write_models(folder: str, endpoint: ScriptedEndpoint, *, top: str = "", key: str = "") -> None:
    Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    text = MODELS.format(url=endpoint.base_url, top=top, key=key)
    Path(folder, "models.toml").write_text(text)


def play(cli: Cli, *clock: str) -> CommandResult:
    result = cli(*PLAY, *(clock or CLOCK))
    assert result.status == 0, result.err
    return result


def actions() -> list[str]:
    (record,) = Path(".pokearena/plays").glob("m-*.jsonl")
    lines = map(json.loads, record.read_text().splitlines())
    return [json.dumps(line["action"]) for line in lines if "action" in line]


def test_play_gives_a_sandboxed_bot_its_model_and_keeps_no_key(
    cli: Cli, bot: Path, endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch, cwd: Path
) -> None:
    monkeypatch.setenv("AUTHOR_KEY", KEY)
    write_models("user/pokearena", endpoint, key='key = "AUTHOR_KEY"')
    play(cli)
    assert set(endpoint.keys) == {f"Bearer {KEY}"}
    (record,) = Path(".pokearena/plays").glob("m-*.jsonl")
    assert "thought" in record.read_text()
    printed = cli("models", "transcript", "last")
    calls = printed.documents
    assert len(calls) == len(endpoint.requests)
    assert {(call["version"], call["model"], call["text"]) for call in calls} == {
        ("mybot", "small", '{"action": 1, "note": "thought"}')
    }
    files = [path for path in cwd.rglob("*") if path.is_file() and not path.is_symlink()]
    assert any(path.name.endswith(".models.jsonl") for path in files)
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert KEY not in printed.out


def test_the_starter_bot_waits_while_its_models_endpoint_fails(
    cli: Cli, bot: Path, endpoint: ScriptedEndpoint
) -> None:
    write_models(".pokearena", endpoint)
    endpoint.set_script(data(b"", 429, Retry_After="4"), REPLY)
    play(cli, "--allowance", "4000", "--bank", "0")
    (record,) = Path(".pokearena/plays").glob("m-*.jsonl")
    lines = map(json.loads, record.read_text().splitlines())
    excused = [line["excused_ms"] for line in lines if "excused_ms" in line]
    assert len(excused) == 1
    assert excused[0] >= 4000
    assert "default action" not in record.read_text()
    assert cli("verify", record).status == 0


def test_a_transcript_answers_the_same_match_without_calls(
    cli: Cli, bot: Path, endpoint: ScriptedEndpoint
) -> None:
    write_models(".pokearena", endpoint)
    play(cli)
    played, calls = actions(), len(endpoint.requests)
    assert calls
    assert cli("models", "transcript", "last", "--output", "recorded").status == 0
    (copy,) = Path("recorded").iterdir()
    assert os.stat(copy).st_mode & 0o077 == 0
    write_models(".pokearena", endpoint, top=f'transcripts = "{Path("recorded").resolve()}"')
    play(cli)
    assert (actions(), len(endpoint.requests)) == (played, calls)


def test_a_bot_without_its_model_plays_and_a_sentence_names_the_file(cli: Cli, bot: Path) -> None:
    result = play(cli)
    warnings = [line for line in result.err.splitlines() if line.startswith("warning")]
    assert len(warnings) == 1
    assert "user/pokearena/models.toml" in warnings[0]
    assert cli("models", "transcript", "last").code == "no-transcript"


def test_a_project_file_sends_no_key(
    cli: Cli, bot: Path, endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTHOR_KEY", KEY)
    write_models(".pokearena", endpoint, key='key = "AUTHOR_KEY"')
    result = cli(*PLAY, *CLOCK)
    assert (result.status, result.code) == (2, "ModelsFileError")
    assert endpoint.requests == []


def test_a_stored_version_needs_a_grant_and_its_calls_are_stored(
    cli: Cli, bot: Path, endpoint: ScriptedEndpoint
) -> None:
    write_models(".pokearena", endpoint)
    assert cli("bot", "add", "mybot", "--owner", "ada").status == 0
    words = [word.replace("mybot", "mybot@1") for word in PLAY]
    refused = cli(*words, *CLOCK)
    assert "pokearena models grant small --bot mybot@1" in refused.err
    assert endpoint.requests == []
    assert cli("models", "grant", "small", "--owner", "ada").status == 0
    assert cli(*words, *CLOCK).status == 0
    [used] = cli("models", "list", "--json").json["usage"]
    assert used["calls"] == len(endpoint.requests) > 0
    assert cli("models", "stop").status == 0
    assert cli(*words, *CLOCK).code == "models-unavailable"


def test_the_examination_plays_one_game_with_models_after_its_cost(
    cli: Cli, bot: Path, endpoint: ScriptedEndpoint
) -> None:
    write_models(".pokearena", endpoint)
    result = cli("test", "mybot", "--quick", "--game", "pouku", "--json")
    checks = {check["name"]: check for check in result.json["checks"]}
    assert checks["plays with its models"]["outcome"] == "passed"
    assert endpoint.requests
    assert "100,000 tokens" in result.err
    Path(".pokearena/models.toml").unlink()
    result = cli("test", "mybot", "--quick", "--game", "pouku", "--json")
    checks = {check["name"]: check for check in result.json["checks"]}
    assert checks["plays with its models"]["outcome"] == "skipped"
