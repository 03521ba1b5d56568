"""An honest bot into which one hostile act is put; every program of the corpus starts here."""

import json
import os
import random
from collections.abc import Callable
from typing import Any

from pokearena_bot import run


def play(act: Callable[[Any], Any] = lambda turn: None, in_flight: int = 1) -> None:
    """Plays at random from the question's luck, after `act` was called with every question.

    What `act` returns is the answer, unless it is None.
    """

    class Bot:
        games_in_flight = in_flight

        def act(self, turn: Any) -> Any:
            answer = act(turn)
            return random.choice(turn.legal) if answer is None else answer

    run(Bot())


def once(act: Callable[[], object]) -> Callable[[Any], None]:
    """An act that is done at the first question, and not again by this process."""
    left = [act]

    def done(turn: Any) -> None:
        if left:
            left.pop()()

    return done


def attempt(**ways: Callable[[], object]) -> None:
    """Tries ways out, and prints for each what came of it: a line of JSON.

    A way is shut if it raises an OSError; what it returns otherwise is what it got.
    """
    for name, way in ways.items():
        try:
            got = repr(way())[:200]
        except (OSError, ImportError, AttributeError, ValueError, KeyError) as error:
            print(json.dumps({"way": name, "shut": f"{type(error).__name__}: {error}"[:200]}))
        else:
            print(json.dumps({"way": name, "got": got}))


def syscall(number: int, *arguments: int) -> int:
    """A system call by its number (x86-64); raises OSError."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    result: int = libc.syscall(number, *(ctypes.c_long(argument) for argument in arguments))
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
