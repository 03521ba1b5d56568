"""The hostile corpus: every program, with its expected verdict at each level of the sandbox."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from arena.bots.sandbox.level import Level

PROGRAMS: Final = Path(__file__).parent / "programs"
LOCKED_IN: Final = (Level.BUBBLEWRAP, Level.LANDLOCK)
ALL: Final = tuple(Level)


@dataclass(frozen=True)
class Hostile:
    """A program and its expected outcome.

    Attributes:
        name: the name of the program.
        verdict: the verdict of the first board.
        sentence: a part of the fault's sentence, or of the output of a contained program.
        levels: the sandbox levels at which the program cannot harm the machine.
        otherwise: different verdicts and sentences, by level.
        bank_ms: the time bank of each seat, in milliseconds.
        then: verdicts and sentences of the other boards of each table.
    """

    name: str
    verdict: str
    sentence: str = ""
    levels: tuple[Level, ...] = ALL
    otherwise: Mapping[Level, tuple[str, str]] = field(default_factory=dict)
    bank_ms: int = 300
    then: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.name

    def wanted(self, level: Level) -> tuple[str, str]:
        """Return the expected verdict and a part of the sentence at a level."""
        return self.otherwise.get(level, (self.verdict, self.sentence))

    @property
    def boards(self) -> int:
        """The number of boards of each of the two tables."""
        return 1 + len(self.then)


SPELLED: Final = r"\x1b]0;title\x07\x1b[2J\u202eevil\u202c\u200b\u2066x\u2069\x9b31m"
"""The text of `terminal_escapes` and `deceptive_text` after it has been escaped."""

FAULTS: Final = (
    Hostile("exits_at_start", "init", "exited with status 3"),
    Hostile("segfaults_at_start", "init", "killed by SIGSEGV"),
    Hostile("exits_at_first_move", "crash", "exited with status 3"),
    Hostile("segfaults_at_first_move", "crash", "killed by SIGSEGV"),
    Hostile("exits_at_last_move", "crash", "exited with status 3"),
    Hostile("segfaults_at_last_move", "crash", "killed by SIGSEGV"),
    Hostile("never_connects", "init", "it did not listen within"),
    Hostile("hangs", "timeout", "it did not answer within"),
    Hostile("late_by_a_millisecond", "timeout", "it did not answer within"),
    Hostile(
        "repeats_a_late_answer",
        "timeout",
        "it did not answer within",
        then=(("protocol", "which was not asked"),),
    ),
    Hostile("illegal_answers", "illegal", "is not legal"),
    Hostile("empty_answers", "protocol", "its answer holds no"),
    Hostile("random_bytes_answered", "protocol", ""),
    Hostile("mismatched_answers", "protocol", "which was not asked"),
    Hostile("batches_too_long", "protocol", ""),
    Hostile("batches_too_short", "timeout", "it did not answer within"),
    Hostile("never_ending_stream", "protocol", "which was not asked"),
    Hostile("empty_messages_for_ever", "protocol", "more work for the referee"),
    Hostile("ends_the_stream", "protocol", "stream"),
    Hostile("huge_messages", "protocol", "more than 1048576 bytes"),
    Hostile("huge_start", "init", "more than 1048576 bytes"),
    Hostile("huge_metadata", "protocol", ""),
    Hostile("huge_details", "protocol", ""),
    Hostile("garbage_on_the_socket", "init", "it did not listen within"),
    Hostile("silent_socket", "init", "it did not listen within"),
    Hostile("malformed_frames", "init", ""),
    Hostile("settings_flood", "protocol", ""),
    Hostile("empty_frames", "protocol", ""),
    Hostile("header_blocks", "protocol", ""),
    Hostile("continuation_flood", "protocol", ""),
    Hostile("rapid_reset", "protocol", ""),
    Hostile("ping_flood", "protocol", ""),
    Hostile("ping_flood_read", "protocol", ""),
    Hostile("window_flood", "protocol", ""),
    Hostile("padding_flood", "protocol", ""),
    Hostile("unknown_frames", "protocol", ""),
    Hostile("goaway_flood", "protocol", ""),
    Hostile("header_bomb", "protocol", ""),
    Hostile("many_answers", "protocol", "bytes in answer to"),
    Hostile("packed_bomb", "protocol", ""),
    Hostile("reconnects", "init", ""),
    Hostile("socket_is_a_link", "init", "it did not listen within"),
    Hostile("stops_reading", "timeout", "it did not answer within"),
    Hostile("answers_another_game", "protocol", ""),
    Hostile(
        "deceptive_text",
        "protocol",
        rf"it answered with the error INVALID_ARGUMENT: {SPELLED}\u3164 fake",
    ),
    # Its pipe connects to its own socket, which Landlock alone does not allow.
    Hostile(
        "a_byte_a_second",
        "timeout",
        "it did not answer within",
        otherwise={Level.LANDLOCK: ("init", "exited with status 1")},
    ),
    Hostile("output_at_full_speed", "resources", "wrote more than 8 MiB of output", bank_ms=30_000),
    Hostile("core_dump", "crash", "killed by SIGABRT"),
    Hostile("leaves_daemons", "crash", "exited with status 3"),
    Hostile("spinning_threads", "timeout", "it did not answer within"),
    Hostile("spinning_processes", "timeout", "it did not answer within", LOCKED_IN),
    Hostile("fork_bomb", "timeout", "it did not answer within", LOCKED_IN),
    Hostile("memory_bomb", "resources", "of memory", LOCKED_IN, bank_ms=30_000),
    Hostile("memory_bomb_of_many", "resources", "of memory", LOCKED_IN, bank_ms=30_000),
    Hostile("fills_its_disk", "resources", "scratch space", LOCKED_IN, bank_ms=30_000),
    Hostile("a_million_files", "resources", "files", LOCKED_IN, bank_ms=30_000),
    Hostile("nameless_files", "resources", "scratch space", LOCKED_IN, bank_ms=30_000),
    Hostile("nests_folders", "resources", "stopped by the arena", LOCKED_IN, bank_ms=30_000),
    Hostile("a_million_folders", "resources", "files", LOCKED_IN, bank_ms=30_000),
    Hostile("one_huge_file", "resources", "wrote more than", bank_ms=30_000),
)
"""Programs with a fault and its verdict."""

CONTAINED: Final = (
    Hostile("reads_files", "finished", levels=LOCKED_IN, bank_ms=30_000),
    Hostile("reads_environments", "finished", "searched", levels=LOCKED_IN, bank_ms=30_000),
    Hostile("writes_files", "finished", levels=LOCKED_IN, bank_ms=30_000),
    Hostile("uses_the_network", "finished", levels=LOCKED_IN, bank_ms=30_000),
    Hostile("escapes_by_calls", "finished", levels=LOCKED_IN, bank_ms=30_000),
    Hostile("kills_everybody", "finished", levels=LOCKED_IN, bank_ms=30_000),
    Hostile("reaches_the_other_seat", "finished", "looked at", levels=LOCKED_IN, bank_ms=30_000),
    Hostile("kernel_surfaces", "finished", levels=LOCKED_IN, bank_ms=30_000),
    Hostile("links_and_handles", "finished", levels=LOCKED_IN, bank_ms=30_000),
    Hostile("leaves_marks", "finished", "looked at", levels=LOCKED_IN, bank_ms=30_000),
    Hostile("occupies_user_ids", "finished", "occupied", levels=LOCKED_IN, bank_ms=30_000),
    Hostile("presses_on_limits", "finished", "pressed on all", levels=LOCKED_IN, bank_ms=30_000),
    Hostile("terminal_escapes", "finished", SPELLED, bank_ms=30_000),
    Hostile("odd_files", "finished", levels=LOCKED_IN, bank_ms=30_000),
    Hostile("ignores_the_end", "finished", bank_ms=30_000),
)
"""Programs that finish every game; their attacks have no effect."""
