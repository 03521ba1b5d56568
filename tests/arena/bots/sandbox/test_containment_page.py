"""Test that docs/reference/hostile_programs.md lists exactly the programs of the corpus."""

import re

from arena.bots.sandbox.level import Level
from tests.arena.bots.transcript import PAGE as PROTOCOL
from tests.hostile.corpus import CONTAINED, FAULTS, LOCKED_IN

PAGE = (PROTOCOL.parent / "hostile_programs.md").read_text(encoding="utf-8")


def test_every_program_of_the_corpus_is_listed_with_its_verdict() -> None:
    row = r"^\| `(\w+)` \| [^|]+ \| `(\w+)`([^|]*) \| (all|sandboxed) \|$"
    rows = re.findall(row, PAGE, re.MULTILINE)
    documented = {name: (verdict, other, levels) for name, verdict, other, levels in rows}
    expected = {
        program.name: (
            program.verdict,
            "".join(f", then `{verdict}`" for verdict, _ in program.then)
            + "".join(
                f", `{verdict}` with Landlock alone"
                for level, (verdict, _) in program.otherwise.items()
                if level is Level.LANDLOCK
            ),
            "sandboxed" if program.levels == LOCKED_IN else "all",
        )
        for program in (*FAULTS, *CONTAINED)
    }
    assert documented == expected
