"""Test the access rights that Landlock restricts, by each version of the kernel's interface.

The names and numbers are those of landlock(7) and include/uapi/linux/landlock.h.
"""

import re
from pathlib import Path

import pytest

from arena.bots.sandbox import landlock, private_root

HEADER = Path("/usr/include/linux/landlock.h")
FIRST = (
    *("EXECUTE", "WRITE_FILE", "READ_FILE", "READ_DIR", "REMOVE_DIR", "REMOVE_FILE", "MAKE_CHAR"),
    *("MAKE_DIR", "MAKE_REG", "MAKE_SOCK", "MAKE_FIFO", "MAKE_BLOCK", "MAKE_SYM"),
)
ADDED = {1: FIRST, 2: ("REFER",), 3: ("TRUNCATE",), 5: ("IOCTL_DEV",)}
BITS = {name: 1 << number for number, name in enumerate(sum(ADDED.values(), ()))}


def test_every_right_is_restricted_from_its_version_on() -> None:
    assert {
        version: sum(BITS[name] for name in names) for version, names in ADDED.items()
    } == landlock.RIGHTS
    # BIND_TCP and CONNECT_TCP; ABSTRACT_UNIX_SOCKET and SIGNAL.
    assert (landlock.PORTS, landlock.OTHERS) == (0b11, 0b11)


def test_the_granted_rights_are_those_of_their_names() -> None:
    granted = {
        "EXECUTE": landlock.EXECUTE,
        "WRITE_FILE": landlock.WRITE,
        "READ_FILE": landlock.READ,
        "READ_DIR": landlock.LIST,
        "TRUNCATE": landlock.TRUNCATE,
        "IOCTL_DEV": landlock.IOCTL,
    }
    assert granted == {name: BITS[name] for name in granted}
    assert sum(BITS[name] for name in granted if name != "READ_DIR") == landlock.OF_FILES


def test_both_levels_offer_the_devices_that_reveal_nothing() -> None:
    assert {"null", "zero", "full", "random", "urandom"} == set(private_root.DEVICES)
    assert {f"/dev/{name}" for name in private_root.DEVICES} == set(landlock.DEVICES)


def test_the_rights_equal_those_of_the_header() -> None:
    if not HEADER.exists():
        pytest.skip(f"{HEADER} is not installed")
    definition = r"#define LANDLOCK_ACCESS_FS_(\w+)\s+\(1ULL << (\d+)\)"
    found = re.findall(definition, HEADER.read_text(encoding="utf-8"))
    numbers = {name: 1 << int(number) for name, number in found}
    assert {name: bit for name, bit in numbers.items() if name in BITS} == {
        name: bit for name, bit in BITS.items() if name in numbers
    }
