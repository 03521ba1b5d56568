"""The errors of the store; the text of each is a sentence for the person who meets it."""


class StoreError(Exception):
    """Something cannot be stored or found as it was asked."""


class Unreachable(StoreError):
    """The database cannot be opened."""


class Unnamed(StoreError):
    """What names a database names none that the arena could use."""


class NotFound(StoreError):
    """There is nothing of that name."""


class Conflict(StoreError):
    """What is there already stands against it."""


class LeaseLost(StoreError):
    """The match is no longer held by the attempt that wants to write to it."""


class TooMany(StoreError):
    """There is as much of it as there may be. wait: seconds after which to ask again."""

    def __init__(self, sentence: str, wait: int) -> None:
        super().__init__(sentence)
        self.wait = wait
