"""Let a scripted agent, without a model, improve a bot in five rounds.

    uv run python -m bench.agent_loop

The agent knows only `AGENTS.md` of a new bot: it runs the commands with `--json`, has no terminal
and no standard input, and reads only JSON and exit statuses. Two of its five versions are
faulty on purpose, one that crashes and one that answers illegally; it must find out why and go
back. The others are tested, played, stored, compared with the version before, and pushed to a
running arena. Any question, prompt or output that is not JSON ends the run.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from arena.system import parent_death_signal
from bench.commands import POKEARENA
from bench.figure import Figure, FigureTarget, figure_text

GAME: Final = "poke"
BOARDS: Final = "2"
CRASH: Final = """
from pokearena_bot import run


def choose(turn):
    return turn.legal[len(turn.legal)]


run(choose)
"""
ILLEGAL: Final = """
from pokearena_bot import run


def choose(turn):
    return type(turn.legal[0])()


run(choose)
"""
LAST: Final = """
from pokearena_bot import run

run(lambda turn: turn.legal[-1])
"""


class LoopError(Exception):
    """A command of the loop had another result than `AGENTS.md` describes."""


@dataclass
class ScriptedAgent:
    """An agent with one bot and the address and token of an arena.

    Attributes:
        bot: folder of the bot.
        arena: URL of the arena.
        token: token of the bot's owner.
        versions: the stored versions, oldest first.
        commands: number of commands run.
    """

    bot: Path
    arena: str
    token: str
    versions: list[str] = field(default_factory=list)
    commands: int = 0

    def run(self, *words: str, expect: int = 0) -> Any:
        """Run a command in the bot's folder; return its JSON, or that of its error.

        Raises:
            LoopError: the exit status is another one, or the output is not JSON.
        """
        self.commands += 1
        done = subprocess.run(
            [POKEARENA, *words, "--json"],
            cwd=self.bot,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env={**os.environ, "POKEARENA_DATA": "data", "POKEARENA_TOKEN": self.token},
        )
        command = f"pokearena {' '.join(words)} --json"
        if done.returncode != expect:
            reason = (done.stderr or done.stdout).strip()
            raise LoopError(f"`{command}` ended with {done.returncode}, not {expect}: {reason}")
        try:
            return json.loads(done.stdout or done.stderr.splitlines()[-1])
        except (json.JSONDecodeError, IndexError):
            raise LoopError(f"`{command}` printed no JSON: {done.stdout!r}") from None

    def keep(self) -> None:
        """Test, play, store, compare and push the present code."""
        self._require(self.run("test", ".", "--quick")["passed"], "the test did not pass")
        self.run("play", GAME, ".", "sample:greedy", "-n", BOARDS, "--seed", "7")
        lost = self.run("why", "last")
        slowest = lost["bots"][0]["thinking"]["slowest"]["question"]
        self._require(self.run("ask", slowest, ".")["in_time"], "the bot was late")
        self.versions.append(self.run("bot", "add", ".")["version"])
        if len(self.versions) > 1:
            self._compare()
        self.run("bot", "push", ".", "--to", self.arena)

    def _compare(self) -> None:
        before, after = self.versions[-2:]
        settings = ("--set", "batch=4", "--set", "limit=8", "--set", "high=100")
        self.run("tournament", "run", GAME, after, before, "--format", "sprt", *settings)
        verdict = self.run("compare", after, before, "--sprt", "0", "100")["sprt"]
        self._require("verdict" in verdict, "the comparison has no verdict")

    def crash(self) -> None:
        """Run the test on code that crashes, and repeat the question of the failure."""
        tested = self.run("test", ".", "--quick", expect=1)
        failed = [check for check in tested["checks"] if check["outcome"] == "failed"]
        self._require(bool(failed and failed[0]["command"]), "no failed check has a command")

    def illegal(self) -> None:
        """Play with code that answers illegally, and ask the question of the fault again."""
        self.run("play", GAME, ".", "sample:random", "-n", "1", expect=1)
        fault = self.run("why", "last")["faults"][0]
        answer = self.run("ask", fault["asks"], ".", expect=1)
        self._require(not answer["legal"], "the illegal answer is not repeated")

    @staticmethod
    def _require(condition: bool, problem: str) -> None:
        if not condition:
            raise LoopError(problem)


@contextmanager
def arena(folder: Path) -> Iterator[tuple[str, str]]:
    """Serve an arena in a folder; yield its URL and the token of an owner."""
    environment = {**os.environ, "POKEARENA_DATA": str(folder)}
    owner = subprocess.run(
        [POKEARENA, "owner", "add", "agent", "--json"],
        env=environment,
        check=True,
        capture_output=True,
    )
    # Matches of open ladders would take the time of the agent's own matches.
    serve = [str(POKEARENA), "serve", "--port", "0", "--workers", "1", "--no-ladders", "--json"]
    with subprocess.Popen(
        parent_death_signal.killed_with_parent(serve),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            assert process.stdout is not None
            page = json.loads(process.stdout.readline())["page"]
            yield page.rstrip("/"), json.loads(owner.stdout)["token"]
        finally:
            process.terminate()


def rounds(agent: ScriptedAgent) -> Iterator[tuple[str, float]]:
    """Yield the name and the seconds of each of the five rounds."""
    code = agent.bot / "bot.py"
    starter, greedy = code.read_text(), (agent.bot / "greedy.py").read_text()
    for name, text, step in (
        ("the starter bot", starter, agent.keep),
        ("a version that crashes", CRASH, agent.crash),
        ("a version that answers illegally", ILLEGAL, agent.illegal),
        ("the last legal action", LAST, agent.keep),
        ("rules of thumb", greedy, agent.keep),
    ):
        began = time.monotonic()
        code.write_text(text)
        step()
        yield name, time.monotonic() - began


def main() -> int:
    """Run the five rounds; return 1 if one of them did not come to its end."""
    with tempfile.TemporaryDirectory(prefix="bench-agent-") as name:
        folder = Path(name)
        with arena(folder / "arena") as (url, token):
            new: list[str | Path] = [POKEARENA, "new", "crafty", "--game", GAME, "--json"]
            subprocess.run(new, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            agent = ScriptedAgent(folder / "crafty", url, token)
            done = 0
            try:
                for what, seconds in rounds(agent):
                    done += 1
                    print(f"round {done}: {what}: {seconds:.1f} s", flush=True)
            except LoopError as error:
                print(f"round {done + 1}: {error}", file=sys.stderr)
            note = f"{agent.commands} commands, {len(agent.versions)} versions pushed"
            figure = Figure(
                "unattended rounds", "rounds", [done], target=FigureTarget(5), note=note
            )
            print(figure_text(figure))
            return 0 if figure.reached else 1


if __name__ == "__main__":
    sys.exit(main())
