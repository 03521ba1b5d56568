"""An honest bot with one hostile act, on which the programs of the corpus are based."""

import json
import os
import random
from collections.abc import Callable
from typing import Any

from pokearena_bot import run


def play(act: Callable[[Any], Any] = lambda turn: None, in_flight: int = 1) -> None:
    """Play at random; call `act` with every question.

    A result of `act` other than None is the answer.
    """

    class Bot:
        games_in_flight = in_flight

        def act(self, turn: Any) -> Any:
            answer = act(turn)
            return random.choice(turn.legal) if answer is None else answer

    run(Bot())


def once(act: Callable[[], object]) -> Callable[[Any], None]:
    """Return a function that runs `act` at the first question of this process only."""
    left = [act]

    def done(turn: Any) -> None:
        if left:
            left.pop()()

    return done


def attempt(**ways: Callable[[], object]) -> None:
    """Try each way out of the sandbox, and print the result as a line of JSON.

    An exception closes a way. The result of an open way is printed as "got".
    """
    for name, way in ways.items():
        try:
            got = repr(way())[:200]
        except (OSError, ImportError, AttributeError, ValueError, KeyError) as error:
            print(json.dumps({"way": name, "shut": f"{type(error).__name__}: {error}"[:200]}))
        else:
            print(json.dumps({"way": name, "got": got}))


def syscall(number: int, *arguments: int) -> int:
    """Call a system call by its x86-64 number.

    Raises:
        OSError: the system call failed.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    result: int = libc.syscall(number, *(ctypes.c_long(argument) for argument in arguments))
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
