"""Checks of raised errors by their code, for `pytest.raises(..., check=...)`."""

from collections.abc import Callable


def has_code(*codes: str) -> Callable[[BaseException], bool]:
    """Return a check that an error has this code, or one of several that a race decides."""

    def check(error: BaseException) -> bool:
        assert getattr(error, "code", "") in codes
        return True

    return check


def has_number(*numbers: int) -> Callable[[OSError], bool]:
    return lambda error: error.errno in numbers
