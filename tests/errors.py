"""Checks of raised errors by their code, for `pytest.raises(..., check=...)`."""

from collections.abc import Callable


def has_code(code: str) -> Callable[[BaseException], bool]:
    """Return a check that an error has this code."""

    def check(error: BaseException) -> bool:
        assert getattr(error, "code", "") == code
        return True

    return check
