"""Test the system call filter: the whole table, the program made of it, and the kernel's answers.

``tests/golden/system_calls.txt`` lists every call with its numbers and decision. It is written by
hand, so a changed row of the table fails here until somebody changes both.
"""

import errno
import itertools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from arena.bots.sandbox import seccomp
from arena.bots.sandbox.system_calls import SYSTEM_CALLS
from tests.examples import quick_cases

GOLDEN = Path(__file__).parents[3] / "golden" / "system_calls.txt"
MACHINES = ("x86_64", "aarch64")
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386, ARM = 0x40000003, 0x40000028
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
BPF_MAXINSNS = 4096

# Arguments for which every test of a call succeeds, in every profile.
INNOCENT = {"socket": [1, 1], "socketpair": [1, 1]}


@dataclass(frozen=True)
class Profile:
    """The arguments of `seccomp.program`."""

    namespaces: bool = True
    locks: bool = False
    own_files: bool = False
    internet: bool = False

    def program(self, machine: str = "") -> bytes:
        return seccomp.program(**asdict(self), machine=machine)


PLAYER = Profile(own_files=True)
LANDLOCK = Profile(namespaces=False)
BUILD = Profile(locks=True, own_files=True, internet=True)
PROFILES = [Profile(*values) for values in itertools.product((False, True), repeat=4)]


@dataclass(frozen=True)
class SystemCall:
    name: str
    numbers: dict[str, int]
    decision: str

    def expected(self, profile: Profile) -> int:
        """Return the error number of the call, 0 if it is allowed."""
        return {
            "allowed": 0,
            "by argument": 0,
            "EPERM": errno.EPERM,
            "ENOSYS": errno.ENOSYS,
            "EPERM without namespaces": 0 if profile.namespaces else errno.EPERM,
            "EPERM without own_files": 0 if profile.own_files else errno.EPERM,
            "ENOLCK without locks": 0 if profile.locks else errno.ENOLCK,
        }[self.decision]


def golden() -> Iterator[SystemCall]:
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, *words, decision = line.split(" ", 3)
            numbers = zip(MACHINES, words, strict=True)
            yield SystemCall(name, {m: int(word) for m, word in numbers if word != "-"}, decision)


CALLS = {call.name: call for call in golden()}


@dataclass(frozen=True)
class Run:
    value: int
    instructions: int

    @property
    def error(self) -> int:
        """The error number of the call, 0 if it is allowed."""
        if self.value == ALLOW:
            return 0
        assert self.value & 0xFFFF0000 == FAIL, hex(self.value)
        return self.value & 0xFFFF


def interpret(program: bytes, architecture: int, number: int, arguments: list[int]) -> Run:
    """Run a filter program as bpf(4) and seccomp(2) describe it."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<iIQ6Q", _signed(number), architecture, 0, *(a % 2**64 for a in padded))
    code = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at = count = accumulator = 0
    while True:
        operation, yes, no, value = code[at]
        at, count = at + 1, count + 1
        if operation == 0x20:
            accumulator = struct.unpack_from("<I", data, value)[0]
        elif operation == 0x05:
            at += value
        elif operation == 0x15:
            at += yes if accumulator == value else no
        elif operation == 0x35:
            at += yes if accumulator >= value else no
        elif operation == 0x45:
            at += yes if accumulator & value else no
        else:
            assert operation == 0x06
            return Run(value, count)


def _signed(number: int) -> int:
    return number - 2**32 if number >= 2**31 else number


def test_table_of_system_calls_equals_the_golden_file() -> None:
    assert list(CALLS) == [call.name for call in golden()]
    rows = {name: (x86, arm, decision) for name, x86, arm, decision in SYSTEM_CALLS}
    assert len(rows) == len(SYSTEM_CALLS)
    expected = {
        call.name: (call.numbers.get("x86_64"), call.numbers.get("aarch64"), call.decision)
        for call in CALLS.values()
    }
    assert rows == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_no_number_occurs_twice_and_every_known_number_is_decided(machine: str) -> None:
    numbers = [call.numbers[machine] for call in CALLS.values() if machine in call.numbers]
    assert len(numbers) == len(set(numbers))
    known = {*range(337), *range(424, 471)}
    if machine == "aarch64":
        known = {*range(244), *range(260, 295), *range(424, 471)}
    assert set(numbers) == known


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("profile", PROFILES, ids=str)
def test_filter_decides_every_number_as_the_golden_file(machine: str, profile: Profile) -> None:
    program = profile.program(machine)
    calls = {c.numbers[machine]: c for c in CALLS.values() if machine in c.numbers}
    for number in range(601):
        call = calls.get(number)
        expected = errno.ENOSYS if call is None else call.expected(profile)
        arguments = INNOCENT.get(call.name, []) if call else []
        run = interpret(program, ARCHITECTURES[machine], number, arguments)
        assert run.error == expected, (number, call)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("number", [601, 1000, 0x3FFFFFFF, 0x40000000, 0x40000001, 0xFFFFFFFF])
def test_unknown_numbers_and_x32_calls_return_enosys(machine: str, number: int) -> None:
    run = interpret(BUILD.program(machine), ARCHITECTURES[machine], number, [])
    assert run.error == errno.ENOSYS


@pytest.mark.parametrize(
    ("machine", "other"),
    [("x86_64", I386), ("x86_64", 0xC00000B7), ("aarch64", ARM), ("aarch64", 0xC000003E)],
)
def test_calls_of_another_abi_kill_the_process(machine: str, other: int) -> None:
    assert interpret(BUILD.program(machine), other, 0, []).value == KILL


def test_other_machines_are_refused() -> None:
    with pytest.raises(OSError, match="no filter of system calls for riscv64"):
        seccomp.program(namespaces=True, machine="riscv64")


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("profile", PROFILES, ids=str)
def test_program_is_short_and_common_calls_cost_few_instructions(
    machine: str, profile: Profile
) -> None:
    program = profile.program(machine)
    assert len(program) // 8 < BPF_MAXINSNS / 8
    for name in ("read", "write", "futex", "epoll_pwait", "recvmsg", "sendmsg", "mmap", "madvise"):
        number = CALLS[name].numbers[machine]
        assert interpret(program, ARCHITECTURES[machine], number, []).instructions <= 28, name


HEADERS = [
    ("x86_64", "unistd_64.h", r"#define __NR_(\w+) (\d+)"),
    ("aarch64", "asm-generic/unistd.h", r"#define __NR(?:3264)?_(\w+) (\d+)"),
]
ONLY_32_BIT = {"sync_file_range2", "arch_specific_syscall", "syscalls"}


@pytest.mark.parametrize(("machine", "header", "definition"), HEADERS)
def test_numbers_equal_those_of_the_headers(machine: str, header: str, definition: str) -> None:
    paths = list(Path("/usr/include").rglob(header))
    if not paths:
        pytest.skip(f"{header} is not installed")
    numbers = {
        name: call.numbers[machine] for name, call in CALLS.items() if machine in call.numbers
    }
    for path in paths:
        found = dict(re.findall(definition, path.read_text(encoding="utf-8")))
        if "fstatat" in found:
            found["newfstatat"] = found.pop("fstatat")
        # 32-bit machines alone have numbers 403 to 423.
        headers = {
            name: int(number)
            for name, number in found.items()
            if int(number) not in range(403, 424) and name not in ONLY_32_BIT
        }
        assert len(headers) > 250
        assert {name: n for name, n in headers.items() if n <= max(numbers.values())} == {
            name: n for name, n in numbers.items() if name in headers
        }


UNIX, INET, INET6, NETLINK, PACKET, VSOCK = 1, 2, 10, 16, 17, 40
STREAM, DGRAM, RAW, SEQPACKET = 1, 2, 3, 5
SOCK_FLAGS = 0o2000000 | 0o4000
INTERNET = Profile(internet=True)
LOCKING = Profile(locks=True)
OWNING = Profile(own_files=True)
EAFNOSUPPORT, ENOLCK, EINVAL, EPERM = (
    errno.EAFNOSUPPORT,
    errno.ENOLCK,
    errno.EINVAL,
    errno.EPERM,
)
BY_ARGUMENT: list[tuple[str, Profile, dict[int, int], int, list[int]]] = [
    # The call, the profile, fixed arguments, the number of the tested one, its values by error.
    *(
        ("socket", profile, {1: kind}, error, families)
        for profile in (PLAYER, LANDLOCK)
        for kind in (STREAM, STREAM | SOCK_FLAGS)
        for error, families in (
            (0, [UNIX]),
            (EAFNOSUPPORT, [0, INET, 3, 9, INET6, 11, NETLINK, PACKET, 38, VSOCK, 2**32 - 1]),
        )
    ),
    ("socket", INTERNET, {1: STREAM}, 0, [UNIX, INET, INET6]),
    ("socket", INTERNET, {1: STREAM}, EAFNOSUPPORT, [0, 3, 9, 11, NETLINK, PACKET, VSOCK]),
    ("socketpair", INTERNET, {1: STREAM}, 0, [UNIX]),
    ("socketpair", INTERNET, {1: STREAM}, EAFNOSUPPORT, [0, INET, INET6, 30]),
    ("personality", BUILD, {}, 0, [0, 0xFFFFFFFF]),
    ("personality", BUILD, {}, EPERM, [1, 0x0040000, 0x0400000, 0xFFFFFFFE]),
    ("prlimit64", LANDLOCK, {}, 0, [0]),
    ("prlimit64", LANDLOCK, {}, EPERM, [1, 2, 2**32 - 1]),
    ("prlimit64", PLAYER, {}, 0, [0, 1, 2**32 - 1]),
    # The first flag that creates a namespace is CLONE_NEWNS, the last CLONE_NEWNET.
    ("clone", BUILD, {}, EPERM, [1 << 17, 1 << 25, *(1 << bit for bit in range(26, 31))]),
    ("clone", BUILD, {}, 0, [17, 0x003D0F00, 0x01200011, 1 << 16, 1 << 18, 1 << 24, 1 << 31]),
]
SECOND_ARGUMENT: list[tuple[str, Profile, int, list[int]]] = [
    ("fcntl", PLAYER, ENOLCK, [5, 6, 7, 36, 37, 38, 1024, 1025, 1026, 1039, 1040]),
    ("fcntl", PLAYER, 0, [0, 1, 2, 3, 4, 8, 9, 15, 16, 35, 39, *range(1027, 1036), 1037, 1041]),
    ("fcntl", LOCKING, 0, [5, 6, 7, 36, 37, 38, 1024, 1025, 1026]),
    ("fcntl", BUILD, EINVAL, [1036, 1038]),
    ("fcntl", PLAYER, EINVAL, [1036, 1038]),
    ("ioctl", BUILD, EPERM, [0x5412, 0x541C]),
    ("ioctl", BUILD, 0, [0x5401, 0x5411, 0x5413, 0x541B, 0x541D, 0x8910, 0x89FF, 0x40086602]),
    ("ioctl", PLAYER, errno.ENOTTY, [0x8910, 0x8912, 0x8946, 0x89FF]),
    ("ioctl", PLAYER, 0, [0x890F, 0x8A00, 0x5401, 0x5421, 0x5451]),
    ("ioctl", OWNING, 0, [0x40086602, 0x401C5820]),
    ("ioctl", LANDLOCK, EPERM, [0x40086602, 0x40046602, 0x401C5820, 0x40087602, 0x40047602]),
    ("ioctl", LANDLOCK, EPERM, [0x40086604, 0x40046604, 0x800C6613, 0x40806685, 0xC0189436]),
    ("ioctl", LANDLOCK, 0, [0x80086601, 0x801C581F, 0x5401, 0x541B, 0x5421, 0x40049409]),
]
THIRD_ARGUMENT: list[tuple[str, int, list[int]]] = [
    ("madvise", EINVAL, [3, 12, 20, 21, 22, 25, 100, 101]),
    ("madvise", 0, [0, 1, 2, 4, 8, 9, 10, 11, 13, *range(14, 20), 23, 24, 26, 99, 102, 103]),
]


def error_of(name: str, profile: Profile, arguments: dict[int, int], machine: str) -> int:
    values = [arguments.get(position, 0) for position in range(6)]
    number = CALLS[name].numbers[machine]
    return interpret(profile.program(machine), ARCHITECTURES[machine], number, values).error


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_are_decided_by_their_first_argument(machine: str) -> None:
    for name, profile, fixed, error, values in BY_ARGUMENT:
        for value in values:
            result = error_of(name, profile, {**fixed, 0: value}, machine)
            assert result == error, (name, profile, value)


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_are_decided_by_their_second_argument(machine: str) -> None:
    for name, profile, error, values in SECOND_ARGUMENT:
        for value in values:
            result = error_of(name, profile, {1: value}, machine)
            assert result == error, (name, profile, hex(value))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["socket", "socketpair"])
def test_datagram_and_raw_sockets_require_namespaces(name: str, machine: str) -> None:
    for kind, flags in itertools.product((STREAM, DGRAM, RAW, SEQPACKET), (0, SOCK_FLAGS)):
        arguments = {0: UNIX, 1: kind | flags}
        assert error_of(name, PLAYER, arguments, machine) == 0
        expected = EPERM if kind in (DGRAM, RAW) else 0
        assert error_of(name, LANDLOCK, arguments, machine) == expected


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("profile", [PLAYER, LANDLOCK, BUILD], ids=str)
def test_calls_that_reveal_the_page_cache_are_decided_by_argument(
    profile: Profile, machine: str
) -> None:
    for name, error, values in THIRD_ARGUMENT:
        for value in values:
            assert error_of(name, profile, {2: value}, machine) == error, (name, value)
    for name in ("preadv2", "pwritev2"):
        for flags in (1, 2, 4, 8, 16, 128):
            assert error_of(name, profile, {5: flags}, machine) == errno.EOPNOTSUPP
        assert error_of(name, profile, {0: 1, 1: 2, 2: 3, 3: 4, 4: 5, 5: 0}, machine) == 0
    assert error_of("mmap", profile, {3: 0x10000}, machine) == EINVAL
    assert error_of("mmap", profile, {3: 0x18002}, machine) == EINVAL
    assert error_of("mmap", profile, {3: 0x0EFFFF, 2: 0x10000}, machine) == 0


# Install the filter given in hexadecimal, then execute the program of the other arguments.
INSTALL = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
program = bytes.fromhex(sys.argv[1])
kept = ctypes.create_string_buffer(program, len(program))
whole = struct.pack("@HP", len(program) // 8, ctypes.addressof(kept))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.c_char_p(whole), 0, 0) == 0
os.execvp(sys.argv[2], sys.argv[2:])
"""


LONGEST_SECONDS = 280


def filtered(profile: Profile, *command: str, cwd: Path | None = None, **env: str) -> str:
    """Run a program under the filter and return its output; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-c", INSTALL, profile.program().hex(), *command],
        cwd=cwd,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONGEST_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


# Make the calls of a JSON list (number, arguments), and print their error numbers.
MAKE_CALLS = """
import ctypes, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
file = os.open("/usr", os.O_RDONLY)
unix = __import__("socket").socket(1, 1)
names = {"file": file, "unix": unix.fileno(), "missing": ctypes.c_char_p(b"/missing")}
errors = []
for number, arguments in json.loads(sys.argv[1]):
    values = [names.get(value, value) for value in arguments]
    values = [ctypes.c_long(value) if isinstance(value, int) else value for value in values]
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *values, *[ctypes.c_long(0)] * (6 - len(values)))
    errors.append(ctypes.get_errno() if result < 0 else 0)
print(json.dumps(errors))
"""
Sample = dict[str, tuple[list[int | str], int]]
# Calls of every profile, with arguments that have no effect if the filter fails to refuse them.
EVERYWHERE: Sample = {
    "getpid": ([], 0),
    "mbind": ([0, 0, 3], errno.ENOSYS),
    "set_mempolicy": ([0, 0, 0], errno.ENOSYS),
    "set_mempolicy_home_node": ([0, 0, 0, 0], errno.ENOSYS),
    "get_mempolicy": ([0, 0, 0, 0, 0], errno.ENOSYS),
    "migrate_pages": ([0, 0, 0, 0], errno.ENOSYS),
    "move_pages": ([0, 0, 0, 0, 0, 0], errno.ENOSYS),
    "ptrace": ([-1, -1], EPERM),
    "process_vm_readv": ([0, 0, 0, 0, 0, 0], EPERM),
    "process_vm_writev": ([0, 0, 0, 0, 0, 0], EPERM),
    "process_madvise": ([-1, 0, 0, 21, 0], errno.ENOSYS),
    "pidfd_getfd": ([-1, -1, 0], EPERM),
    "name_to_handle_at": ([-1, 0, 0, 0, 0], EPERM),
    "open_tree": ([-1, "missing", 0], EPERM),
    "open_tree_attr": ([-1, "missing", 0, 0, 0], EPERM),
    "unshare": ([0], EPERM),
    "statmount": ([0, 0, 0, 0], errno.ENOSYS),
    "listmount": ([0, 0, 0, 0], errno.ENOSYS),
    "syslog": ([-1, 0, 0], EPERM),
    "io_uring_setup": ([0, 0], errno.ENOSYS),
    "clone3": ([0, 0], errno.ENOSYS),
    "keyctl": ([-1], EPERM),
    "personality": ([1], EPERM),
    "inotify_init1": ([-1], EPERM),
    "getxattr": (["missing", "missing", 0, 0], errno.ENOENT),
    "socketpair": ([INET, STREAM, 0, 0], EAFNOSUPPORT),
    "landlock_create_ruleset": ([0, 0, 0xFF], EINVAL),
}
METADATA: dict[str, list[int | str]] = {
    "fchmodat": [-100, "missing", 0],
    "setxattr": ["missing", "missing", 0, 0, 0],
    "removexattr": ["missing", "missing"],
    "utimensat": [-100, "missing", 0, 0],
    "setxattrat": [-100, "missing", 0, "missing", 0, 0],
    "removexattrat": [-100, "missing", 0, "missing"],
    "file_setattr": [-100, "missing", 0, 0, 0],
}
SAMPLES: dict[Profile, Sample] = {
    PLAYER: {
        **EVERYWHERE,
        "socket": ([INET, STREAM, 0], EAFNOSUPPORT),
        "flock": (["file", 5], ENOLCK),
        "fcntl": (["file", 6, 0], ENOLCK),
        "ioctl": (["unix", 0x8912, 0], errno.ENOTTY),
        "connect": ([-1, 0, 0], errno.EBADF),
    },
    LANDLOCK: {
        **EVERYWHERE,
        **{name: (arguments, EPERM) for name, arguments in METADATA.items()},
        "socket": ([INET6, STREAM, 0], EAFNOSUPPORT),
        "flock": (["file", 5], ENOLCK),
        "fcntl": (["file", 1036, 0], EINVAL),
        "ioctl": (["file", 0x40086602, 0], EPERM),
        "connect": ([-1, 0, 0], EPERM),
        "prlimit64": ([1, 0, 0, 0], EPERM),
        "shmget": ([0, 0, 0], EPERM),
    },
    BUILD: {
        **EVERYWHERE,
        "socket": ([INET, STREAM, 0], 0),
        "flock": (["file", 5], 0),
        "fcntl": (["file", 1036, 0], EINVAL),
    },
}


def errors_of(profile: Profile, calls: list[tuple[int, list[int | str]]]) -> list[int]:
    errors = json.loads(filtered(profile, sys.executable, "-c", MAKE_CALLS, json.dumps(calls)))
    assert isinstance(errors, list)
    return errors


@pytest.mark.parametrize("profile", SAMPLES, ids=str)
def test_kernel_returns_the_documented_errors(profile: Profile) -> None:
    machine = os.uname().machine
    sample = {CALLS[name].numbers[machine]: call for name, call in SAMPLES[profile].items()}
    sample[1000] = ([], errno.ENOSYS)
    calls = [(number, arguments) for number, (arguments, _) in sample.items()]
    names = [*SAMPLES[profile], "1000"]
    expected = [error for _, error in sample.values()]
    errors = dict(zip(names, errors_of(profile, calls), strict=True))
    assert errors == dict(zip(names, expected, strict=True))


def test_owners_of_files_may_change_their_metadata() -> None:
    machine = os.uname().machine
    calls = [(CALLS[name].numbers[machine], arguments) for name, arguments in METADATA.items()]
    errors = dict(zip(METADATA, errors_of(OWNING, calls), strict=True))
    assert errors["fchmodat"] == errors["utimensat"] == errno.ENOENT
    # Older kernels do not have the newer calls.
    assert EPERM not in errors.values()


def installed(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


# The fork comes first: Python 3.12 warns of one beside threads that still end.
ORDINARY = """
import asyncio, concurrent.futures, mmap, os, subprocess, sys, tempfile, time
if (pid := os.fork()) == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
assert subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True).stdout == b"1\\n"
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    assert sum(pool.map(lambda n: n * n, range(1000))) == 332833500
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "file")
    with open(path, "w+b") as file:
        file.write(b"x" * 100000)
        file.flush()
        os.fsync(file.fileno())
        assert mmap.mmap(file.fileno(), 0)[99999] == 120
    os.replace(path, path + "2")
async def main():
    await asyncio.gather(*[asyncio.to_thread(time.sleep, 0.01) for _ in range(10)])
    process = await asyncio.create_subprocess_exec("true")
    assert await process.wait() == 0
asyncio.run(main())
bytearray(64 << 20)
print("done")
"""


@pytest.mark.parametrize("profile", quick_cases([PLAYER, LANDLOCK, BUILD], 1), ids=str)
def test_python_runs_under_the_filter(profile: Profile) -> None:
    assert filtered(profile, sys.executable, "-c", ORDINARY) == "done\n"


@pytest.mark.parametrize("profile", quick_cases([PLAYER, LANDLOCK, BUILD], 1), ids=str)
def test_numpy_runs_under_the_filter(profile: Profile) -> None:
    pytest.importorskip("numpy")
    script = "import numpy; a = numpy.ones((300, 300)); print(int((a @ a)[0, 0]))"
    assert filtered(profile, sys.executable, "-c", script) == "300\n"


def test_tar_extracts_with_modes_and_times(tmp_path: Path) -> None:
    tar = installed("tar")
    (tmp_path / "in").mkdir()
    program = tmp_path / "in" / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o750)
    os.utime(program, (1_000_000_000, 1_000_000_000))
    subprocess.run([tar, "-czf", "all.tar.gz", "in"], cwd=tmp_path, check=True)
    (tmp_path / "out").mkdir()
    filtered(BUILD, tar, "-xpzf", "all.tar.gz", "-C", "out", cwd=tmp_path)
    status = (tmp_path / "out" / "in" / "program").stat()
    assert (status.st_mode & 0o777, int(status.st_mtime)) == (0o750, 1_000_000_000)


@pytest.mark.parametrize("profile", quick_cases([PLAYER, LANDLOCK, BUILD], 1), ids=str)
def test_node_runs_under_the_filter(profile: Profile, tmp_path: Path) -> None:
    script = """
const { Worker } = require("worker_threads");
const net = require("net"), fs = require("fs");
fs.writeFileSync("file", "x");
const server = net.createServer(() => {}).listen("socket", () => {
  new Worker("require('worker_threads').parentPort.postMessage(42)", { eval: true })
    .on("message", (value) => { console.log(value); server.close(); });
});
"""
    assert filtered(profile, installed("node"), "-e", script, cwd=tmp_path) == "42\n"


@pytest.mark.long
@pytest.mark.parametrize("profile", [PLAYER, LANDLOCK, BUILD], ids=str)
def test_java_runs_under_the_filter_with_numa_support_requested(
    profile: Profile, tmp_path: Path
) -> None:
    (tmp_path / "Main.java").write_text(
        "public class Main { public static void main(String[] a) throws Exception {\n"
        "Thread t = Thread.startVirtualThread(() -> System.out.println(42)); t.join(); } }\n"
        if _java_version() >= 21
        else "public class Main { public static void main(String[] a) throws Exception {\n"
        "Thread t = new Thread(() -> System.out.println(42)); t.start(); t.join(); } }\n"
    )
    options = ["-XX:+UseNUMA", "-XX:-UsePerfData", "-Xmx256m"]
    output = filtered(profile, installed("java"), *options, "Main.java", cwd=tmp_path)
    assert output.splitlines()[-1] == "42"


def _java_version() -> int:
    shown = subprocess.run(
        [installed("java"), "-version"], capture_output=True, text=True, check=True
    ).stderr
    version = re.search(r'"(\d+)', shown)
    assert version is not None
    return int(version[1])


@pytest.mark.long
def test_npm_installs_and_builds(tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "package.json").write_text('{"name": "library", "version": "1.0.0"}')
    (tmp_path / "library" / "index.js").write_text("module.exports = 42")
    package = {
        "name": "bot",
        "version": "1.0.0",
        "dependencies": {"library": "file:library"},
        "scripts": {"build": "node -e \"console.log(require('library'))\""},
    }
    (tmp_path / "package.json").write_text(json.dumps(package))
    npm, cache = installed("npm"), str(tmp_path / "cache")
    options = ["--offline", "--no-audit", "--no-fund"]
    filtered(BUILD, npm, "install", *options, cwd=tmp_path, npm_config_cache=cache)
    output = filtered(BUILD, npm, "run", "build", cwd=tmp_path, npm_config_cache=cache)
    assert output.splitlines()[-1] == "42"


def test_uv_makes_a_virtual_environment(tmp_path: Path) -> None:
    options = ["--offline", "--no-config", "--python", sys.executable]
    cache = str(tmp_path / "cache")
    filtered(BUILD, installed("uv"), "venv", *options, "new", cwd=tmp_path, UV_CACHE_DIR=cache)
    assert filtered(BUILD, str(tmp_path / "new" / "bin" / "python"), "-c", "print(1)") == "1\n"


@pytest.mark.long
@pytest.mark.repetition
@pytest.mark.timeout(300)
def test_cargo_builds(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "bot"\nversion = "0.1.0"\n')
    (tmp_path / "src" / "main.rs").write_text('fn main() { println!("{}", 42) }\n')
    filtered(BUILD, installed("cargo"), "build", "--offline", cwd=tmp_path)
    for profile in (PLAYER, LANDLOCK):
        assert filtered(profile, str(tmp_path / "target" / "debug" / "bot")) == "42\n"


@pytest.mark.long
@pytest.mark.repetition
@pytest.mark.timeout(300)
def test_go_builds(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module bot\n")
    # Without fmt, the compiler builds only the runtime.
    source = "package main\n\nfunc main() { println(42) }\n"
    (tmp_path / "main.go").write_text(source)
    cache = str(tmp_path / "cache")
    go = installed("go")
    filtered(BUILD, go, "build", "-o", "bot", cwd=tmp_path, GOCACHE=cache, GOFLAGS="-mod=mod")
    for profile in (PLAYER, LANDLOCK):
        assert filtered(profile, str(tmp_path / "bot")) == "42\n"
