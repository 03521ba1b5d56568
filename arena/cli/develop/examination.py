"""Run the examination of a bot on the command line: progress, checks, records of failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Final, Self

from arena.bots.bot import Bot
from arena.cli import output
from arena.cli.bots import registration
from arena.cli.matches import author_models
from arena.cli.output import ProgressLine, clean
from arena.cli.workspace import Workspace
from arena.matches import local_records
from arena.matches.private_referee import own_referee
from arena.models.match_models import MatchModels
from arena.models.models_file import EXAMINATION_TOKENS
from arena.store import match_settings
from arena.store.matches.spec import MatchSpec
from arena.submissions.conformance.check import Check, CheckOutcome
from arena.submissions.conformance.examination import MODELS
from arena.submissions.conformance.examination import examine as examined
from arena.system import output_file
from referee.sanitizing import sanitized

_MARKS: Final = {
    CheckOutcome.PASSED: ("✓", "green"),
    CheckOutcome.FAILED: ("✗", "bold red"),
    CheckOutcome.REMARK: ("!", "yellow"),
    CheckOutcome.SKIPPED: ("-", "dim"),
    CheckOutcome.UNCHECKED: ("?", "yellow"),
}
_WIDEST: Final = 30
_SHOWN_LINES: Final = 8


def examine(
    workspace: Workspace,
    bot: Bot,
    typed: str,
    games: Sequence[str],
    seed: str,
    quick: bool,
    about: Callable[[str], None],
) -> Iterator[Check]:
    """Yield the checks of a bot, made with an own referee; store records where `ask` finds them."""

    def models(spec: MatchSpec) -> MatchModels | None:
        granted = author_models.of_bots(workspace, spec.id, {spec.versions[0]: bot}, kept=False)
        if granted is not None:
            granted = granted.within(EXAMINATION_TOKENS)
            most, cost = granted.file.limits.table_tokens, granted.most_cost()
            output.hint(f"{MODELS}: at most {most:,} tokens, which cost at most {cost:.4f}")
        return granted

    with own_referee() as referee:
        checks = examined(
            bot,
            referee,
            games,
            match_settings.seed_of(seed),
            seed_argument=seed,
            bot_argument=typed,
            thorough=not quick,
            builder=lambda bot: registration.up_to_date(workspace, bot),
            on_test=about,
            models=models,
        )
        for check in checks:
            _keep(workspace, check)
            yield check


def _keep(workspace: Workspace, check: Check) -> None:
    if check.record is None:
        return
    path = local_records.path_of(workspace.folder, check.record.match)
    output_file.write_text(path, check.record.text, private=True)


class Shown:
    """Prints checks as they are made, and the current activity between them."""

    def __init__(self, bot: Bot, as_json: bool) -> None:
        self._bot = bot
        self._as_json = as_json
        self._game = ""
        self._made = 0
        self._written: list[str] = []
        """The latest printed output; it is shortened when the same failure repeats."""
        self._progress = ProgressLine()
        self._status: Any = None

    def __enter__(self) -> Self:
        if not self._as_json and output.is_terminal():
            self._status = output.screen().status("")
            self._status.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._status is not None:
            self._status.__exit__(kind, error, trace)

    def about(self, what: str) -> None:
        """Show the current activity."""
        if self._status is not None:
            self._status.update(what)
        else:
            self._progress.now(f"{output.count(self._made, 'check')} made · {what}")

    def print_check(self, check: Check) -> None:
        """Print a finished check."""
        self._made += 1
        if self._as_json:
            return
        if check.game != self._game:
            output.heading(check.game or "as a whole")
            self._game = check.game
        mark, style = _MARKS[check.outcome]
        output.marked(mark, style, f"{check.name:<{_WIDEST}}", clean(check.sentence))
        if check.outcome in (CheckOutcome.PASSED, CheckOutcome.SKIPPED):
            return
        written = sanitized(check.output).rstrip().splitlines()[-_SHOWN_LINES:]
        shown = written[-1:] if written == self._written else written
        self._written = written
        for number, line in enumerate(shown):
            output.line(f"   {'       ' if number else 'output '} {line}")
        if check.command:
            from arena.cli.errors import typed

            output.line(f"   again   {typed(check.command)}")


def summary(checks: Sequence[Check]) -> str:
    """Return the number of checks by outcome as text."""
    counted = Counter(check.outcome for check in checks)
    words = (
        (CheckOutcome.PASSED, "passed"),
        (CheckOutcome.FAILED, "failed"),
        (CheckOutcome.REMARK, "with a remark"),
        (CheckOutcome.SKIPPED, "not applicable"),
        (CheckOutcome.UNCHECKED, "not checked"),
    )
    counts = ", ".join(f"{counted[outcome]} {word}" for outcome, word in words if counted[outcome])
    seconds = sum(check.seconds for check in checks)
    return f"{counts} in {seconds:.1f} s"


def as_json(bot: Bot, seed: str, checks: Sequence[Check]) -> dict[str, Any]:
    """Return the examination as JSON values."""
    counted = Counter(check.outcome for check in checks)
    return {
        "bot": bot.label,
        "seed": seed,
        "passed": not counted[CheckOutcome.FAILED] and not counted[CheckOutcome.UNCHECKED],
        "counts": {str(outcome): counted[outcome] for outcome in CheckOutcome},
        "checks": [check.to_json() for check in checks],
    }
