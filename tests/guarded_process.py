"""Processes that a failing test does not wait for."""

import subprocess
from types import TracebackType
from typing import AnyStr


class GuardedProcess(subprocess.Popen[AnyStr]):
    """A process that is killed if its `with` block ends by an exception, such as a time limit."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None and self.poll() is None:
            self.kill()
        super().__exit__(kind, error, trace)
