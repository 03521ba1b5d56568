"""Folders and settings of the system that bots may read."""

from __future__ import annotations

import os

SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Folders of programs and libraries; on most systems links into /usr."""
SETTINGS = (
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives"),
    *("/etc/localtime", "/etc/ssl/openssl.cnf", "/etc/nsswitch.conf"),
)
"""System settings that runtimes read; they do not identify the machine or its users."""
NETWORK = (
    *("/etc/resolv.conf", "/etc/hosts", "/etc/ssl", "/etc/pki", "/etc/ca-certificates"),
    "/etc/ca-certificates.conf",
)
"""Further settings for network access."""
BUILDS = ("/etc/maven",)
"""Further settings for builds."""


def settings(*, builds: bool = False, network: bool = False) -> list[str]:
    """Return the system settings that exist; a JVM has a folder named by its version."""
    more = (*(BUILDS if builds else ()), *(NETWORK if network else ()))
    javas = [f"/etc/{name}" for name in os.listdir("/etc") if name.startswith("java")]
    return [path for path in (*SETTINGS, *more, *javas) if os.path.exists(path)]
