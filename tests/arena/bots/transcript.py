"""Generate the transcript of docs/reference/protocol.md, which is one game of the page's bot."""

import json
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from arena.bots import manifest, resolver
from arena.bots.bot import Bot
from arena.bots.processes import Processes
from arena.bots.sandbox.level import Level
from referee.games.shared.dealing import board_seed
from tests.referee.authors import TableResults, play
from tests.waiting import wait_until

OPEN: Final = Level.UNSANDBOXED
"""The program copies its standard input and output to files in its folder."""
PAGE: Final = Path(__file__).parents[3] / "docs" / "reference" / "protocol.md"
BOARD: Final = board_seed((157).to_bytes(32, "big"), 0)
"""The seed of a short game in which the bot goes out twice."""
_GAME: Final = re.compile(
    r"(^## A whole game\n.*?^```text\n).*?(?=^```$)", re.DOTALL | re.MULTILINE
)
_QUESTION: Final = re.compile(r"(?<=^```json\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)


def block(language: str) -> str:
    pattern_match = re.search(
        rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
    assert pattern_match is not None
    return pattern_match[1]


def played() -> tuple[str, TableResults]:
    """Play the game again; return its transcript and its result."""
    with tempfile.TemporaryDirectory() as name, Processes(level=OPEN) as processes:
        folder = Path(name)
        addresses = [processes.start(0, _author(folder))]
        addresses += [processes.start(seat, resolver.sample("greedy")) for seat in (1, 2)]
        result = play(
            addresses,
            game="pouku",
            match="m-157",
            board=BOARD,
            allowance_ms=60_000,
            bank_ms=10_000,
            start_ms=60_000,
            rules="# Rules of Pouku ...",
        )
        # The copies are written by processes that the bot does not wait for.
        wait_until(lambda: _is_complete(folder))
        read, answers = _copies(folder)
    lines = []
    for line, answer in zip(read[:-1], answers, strict=False):
        lines += [f"< {line}", f"> {answer}"]
    text = "\n".join([*lines, f"< {read[-1]}\n"])
    # The measured times depend on the load of the machine, and the page shows the usual clock.
    text = re.sub(r'"lastMs":\d+', '"lastMs":0', text)
    text = text.replace('"allowanceMs":60000', '"allowanceMs":200')
    return re.sub(r'"bankMs":\d+', '"bankMs":10000', text), result


def with_transcript(page: str, transcript: str) -> str:
    line = next(line for line in transcript.splitlines() if line.startswith('< {"choices"'))
    question = _formatted_question(json.loads(line[2:])["act"])
    page, written = _GAME.subn(lambda heading: heading[1] + transcript, page, count=1)
    assert written, "the page has no section for the transcript"
    return _QUESTION.sub(lambda _: question + "\n", page, count=1)


def _formatted_question(act: dict[str, Any]) -> str:
    """Format a question as JSON: one line per field, per field of the view, and per action."""
    legal = ",\n".join(f"    {json.dumps(action)}" for action in act["legal"])
    ((game, view),) = act["view"].items()
    seen = ",\n".join(f'    "{name}": {json.dumps(value)}' for name, value in view.items())
    plain = [
        f'  "{name}": {json.dumps(value)}'
        for name, value in act.items()
        if name not in ("legal", "view")
    ]
    long = [f'  "legal": [\n{legal}\n  ]', f'  "view": {{"{game}": {{\n{seen}\n  }}}}']
    return "{\n" + ",\n".join(plain + long) + "\n}"


def _copies(folder: Path) -> tuple[list[str], list[str]]:
    """Return the lines that the bot has read, and those that it has written."""
    names = ("read", "written")
    read, written = ((folder / name).read_text().splitlines() for name in names)
    return read, written


def _is_complete(folder: Path) -> bool:
    """Test whether the last line read is that of the end, and all others are answered."""
    read, written = _copies(folder)
    return read[-1].startswith('{"end"') and len(written) >= len(read) - 1


def _author(folder: Path) -> Bot:
    """Return the bot of the page, which also copies its input and output to files."""
    (folder / "bot.py").write_text(block("python"))
    (folder / manifest.FILE).write_text(block("toml"))
    bot_manifest = manifest.read(folder)
    program = shlex.join([sys.executable, *bot_manifest.run[1:]])
    recorded = ("sh", "-c", f"tee read | {program} | tee written")
    return Bot(
        bot_manifest.name,
        manifest.Manifest(bot_manifest.name, recorded, transport=bot_manifest.transport),
        folder,
    )


if __name__ == "__main__":
    PAGE.write_text(with_transcript(PAGE.read_text(), played()[0]))
