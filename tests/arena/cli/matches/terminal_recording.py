"""Record a person who plays Saint Poker against two bots, as an asciicast (version 2).

`scripts/recording` writes the recording of docs/how-to/play.md. The times are those of a person;
the time that the program takes is not recorded.
"""

import codecs
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.arena.cli.terminal import Terminal, in_a_terminal

COLUMNS, LINES = 80, 30
WORDS = "play saint_poker sample:greedy human sample:bold --seed table"
THINK_SECONDS, KEY_SECONDS, READ_SECONDS = 0.9, 0.11, 2.5
SUITS = dict(zip("♣♦♥♠", "cdhs", strict=True))
MENU = r"decision (\d+) ((?!decision).)*? actions?[^\n]*help[^>]*> $"
HELP, TABLE = 1, 8
"""Numbers of the questions at which the person opens the rules and the whole table."""


class TerminalRecorder:
    """A terminal whose output is recorded with the times of a person."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.seconds = 0.0
        self.events: list[tuple[float, str, str]] = []
        terminal.on_output = self._record
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def _record(self, data: bytes) -> None:
        now, text = round(self.seconds, 2), self._decoder.decode(data)
        # The number of reads in which the text arrives differs between recordings.
        if self.events and self.events[-1][0] == now:
            text = self.events.pop()[2] + text
        self.events.append((now, "o", text))

    def press(self, keys: str, *, until: str) -> None:
        """Press one key after the other, then wait for a text."""
        for number, key in enumerate(keys):
            self.seconds += KEY_SECONDS
            self._terminal.press(key)
            if number + 1 < len(keys):
                self._terminal.matches(r"> [^\n]*$")
        self._terminal.matches(until)

    @property
    def text(self) -> str:
        return self._terminal.text


def choice(question: int, text: str) -> str:
    """Return the keys of a plausible choice."""
    menu = text[text.rindex("help") :]
    if "river:" in text and " pick up " in menu:
        return f"{_cards(menu)[-1]}\n"
    if " show " in menu:
        (hand,) = re.findall(r"human · .*?hand: ([^\r\n]*)", text, re.DOTALL)
        return " ".join(_cards(hand)[-2:]) + "\n"
    return "1\n"


def _cards(text: str) -> list[str]:
    return [rank.lower() + SUITS[suit] for rank, suit in re.findall(r"([2-9TJQKA])([♣♦♥♠])", text)]


def record(folder: Path) -> Iterator[str]:
    """Yield the lines of the recording."""
    with in_a_terminal(folder, *WORDS.split(), columns=COLUMNS, lines=LINES) as terminal:
        recorder = TerminalRecorder(terminal)
        question = 0
        while terminal.matches(f"{MENU}|result: ")[1]:
            text, question = terminal.text, question + 1
            recorder.seconds += THINK_SECONDS
            if question in (HELP, TABLE):
                recorder.press("?" if question == HELP else "=", until="q: back")
                recorder.seconds += READ_SECONDS
                recorder.press("q", until=MENU)
            recorder.press(choice(question, text), until=f"{MENU}|result: ")
        terminal.sees("pokearena replay")
        terminal.ends()
    header = {"version": 2, "width": COLUMNS, "height": LINES, "title": f"pokearena {WORDS}"}
    yield json.dumps(header)
    for event in recorder.events:
        yield json.dumps(event, ensure_ascii=False)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        Path(sys.argv[1]).write_text(
            "".join(f"{line}\n" for line in record(Path(temporary))), encoding="utf-8"
        )
