"""Errors with a code, by which programs and tests distinguish the reasons of one class."""


class CodedError(Exception):
    """An error with a stable name; its sentence may change.

    Attributes:
        code: the name, such as "card-twice"; empty if the class identifies the reason.
    """

    def __init__(self, *args: object, code: str = "") -> None:
        super().__init__(*args)
        self.code = code


class InvalidValue(CodedError, ValueError):
    """A function was called with a value that it does not accept."""
