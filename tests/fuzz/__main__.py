"""Send random messages and count the verdicts.

uv run python -m tests.fuzz decoder 1000000
uv run python -m tests.fuzz table 20000 --seed friday
uv run python -m tests.fuzz lines 100000

A message without its expected verdict ends the run and is printed; the same seed repeats it.
"""

import argparse
import time

from tests.fuzz import decoder, json_lines, table

FUZZERS = {"decoder": decoder.fuzz, "table": table.fuzz, "lines": json_lines.fuzz}


def main() -> None:
    """Run the fuzzer that the command line selects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=FUZZERS)
    parser.add_argument("messages", type=int)
    parser.add_argument("--seed", default="0")
    arguments = parser.parse_args()
    began = time.monotonic()
    verdicts = FUZZERS[arguments.what](arguments.messages, arguments.seed)
    summary = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(verdicts.items()))
    print(f"{arguments.what}, seed {arguments.seed}: {summary}; {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
