"""Test that a bot cannot keep the other bots of the machine from starting."""

import pytest

from arena.bots.processes import Processes
from arena.bots.sandbox.level import Level
from tests.hostile.hostile_environment import started_world
from tests.hostile.sandboxed_run import need, run_to_end, untrusted
from tests.waiting import wait_until

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(120)]


@pytest.mark.parametrize("level", [Level.BUBBLEWRAP, Level.LANDLOCK])
def test_a_bot_starts_while_another_occupies_the_names_of_user_ids(
    tmp_path_factory: pytest.TempPathFactory, level: Level
) -> None:
    need(level)
    with started_world(tmp_path_factory.mktemp("w")) as world:
        hostile = world.bot("occupies_user_ids")
        with Processes(level=level) as processes:
            processes.start(0, hostile)
            wait_until(lambda: "occupied" in processes.report(0).output)
            folder = world.bot("never_connects").folder
            assert folder is not None
            report = run_to_end(untrusted(folder, ("python", "-c", "print('started')")), level)
            assert report.output == "started\n", report
            assert not processes.report(0).ended
