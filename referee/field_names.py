"""Names of fields, games and kinds of actions in Python, in messages and in JSON."""

import re


def snake(name: str) -> str:
    """Convert ``PickUp`` to ``pick_up``."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def camel(name: str) -> str:
    """Convert ``pick_up`` to ``pickUp``, protobuf's form of names in JSON."""
    head, *tail = name.split("_")
    return head + pascal("_".join(tail))


def pascal(name: str) -> str:
    """Convert ``pick_up`` to ``PickUp``, the form of classes."""
    return "".join(word.capitalize() for word in name.split("_"))
