"""Simulate a season of ladders, and check the invariants of the scheduler.

    uv run python -m bench.season                      # 10,000 bots, 100,000 matches, 1,000 workers
    uv run python -m bench.season --bots 60 --matches 600 --workers 20 --json

Prints a table of the invariants with the measured values and their limits, and figures. The exit
status is 1 if an invariant is violated. `bench.season_simulator` describes what is simulated.
"""

import argparse
import json
import resource
import sys
from collections.abc import Iterator

from bench.arguments import at_least
from bench.season_checks import SeasonReport, check
from bench.season_simulator import NO_FAILURES, Failures, SeasonPlan, season
from bench.session import circumstances

TARGET_SECONDS = 900.0
"""Longest time of the default season on two cores."""


def lines(report: SeasonReport) -> Iterator[str]:
    """Yield the report as lines of text."""
    yield f"{'invariant':36} {'value':>12} {'limit':>12}"
    for invariant in report.invariants:
        verdict = "holds" if invariant.holds else "VIOLATED"
        values = f"{invariant.value:12,.1f} {invariant.limit:12,.1f}"
        yield f"{invariant.name:36} {values} {invariant.unit:13} {verdict}"
        yield from (f"    {problem}" for problem in invariant.problems if not invariant.holds)
    yield ""
    for name, value in report.figures.items():
        yield f"{name:48} {value:12,.1f}"
    yield ""
    for name, times in report.events.items():
        yield f"{name:48} {times:12,}"


def main() -> int:
    """Simulate, and print the report."""
    usual = SeasonPlan()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--bots", type=at_least(20), default=usual.bots, help="at least 20")
    parser.add_argument("--matches", type=at_least(1), default=usual.matches)
    parser.add_argument("--workers", type=at_least(1), default=usual.workers)
    parser.add_argument("--seed", type=int, default=usual.seed)
    parser.add_argument("--no-failures", action="store_true", help="nothing crashes or is lost")
    parser.add_argument("--charge", type=float, default=0.0, metavar="FACTOR")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    plan = SeasonPlan(
        bots=given.bots,
        matches=given.matches,
        workers=given.workers,
        seed=given.seed,
        failures=NO_FAILURES if given.no_failures else Failures(),
        charge=given.charge,
    )

    def progress(closed: int, virtual: float) -> None:
        print(f"{closed:,} matches closed, virtual time {virtual:,.0f} s", file=sys.stderr)

    with season(plan, progress=progress) as simulated:
        simulated.run()
        report = check(simulated)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report.figures["memory at the most, MB"] = peak
    if given.json:
        print(json.dumps({"machine": circumstances(), **report.to_json()}))
    else:
        print(" ".join(f"{name} {value};" for name, value in circumstances().items()))
        print("\n".join(lines(report)))
        if (plan.bots, plan.matches, plan.workers) == (usual.bots, usual.matches, usual.workers):
            reached = "reached" if report.figures["elapsed seconds"] <= TARGET_SECONDS else "MISSED"
            print(f"\ntarget at most {TARGET_SECONDS:.0f} s: {reached}")
    return 0 if report.holds else 1


if __name__ == "__main__":
    sys.exit(main())
