"""`pokearena metrics`."""

from pathlib import Path

import pytest

from arena.cli.workspace import Workspace
from tests.arena.cli.terminal import Cli
from tests.arena.services.metrics.metrics_arena import parsed, value


def test_metrics_are_printed_once(cli: Cli, cwd: Path) -> None:
    Workspace(cwd / ".pokearena").store.dispose()
    result = cli("metrics", "--once")
    assert result.status == 0
    samples = parsed(result.out)
    assert value(samples, "pokearena_build_info") == 1
    assert value(samples, "pokearena_up", service="database") == 1


@pytest.mark.parametrize("address", ["9464", "localhost", "host:port", "127.0.0.1:70000"])
def test_an_invalid_address_is_refused(cli: Cli, address: str) -> None:
    for command in (("metrics", "--listen"), ("serve", "--metrics")):
        result = cli(*command, address)
        assert result.status == 2
        assert result.code == "invalid-address"


@pytest.mark.parametrize("words", [(), ("--once",)])
def test_metrics_without_an_arena_are_refused(cli: Cli, cwd: Path, words: tuple[str, ...]) -> None:
    result = cli("metrics", *words)
    assert (result.status, result.out) == (1, "")
    assert result.code == "no-arena"
    assert "POKEARENA_DATABASE_URL" in result.err
    assert cli("standings").err == result.err
