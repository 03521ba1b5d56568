"""Rate limits per client with token buckets, which are refilled at a constant rate."""

from __future__ import annotations

import ipaddress
import math
from collections import OrderedDict

_MAX_ADDRESS_CHARACTERS = 64
"""Length to which an address that is not an IP address is cut."""
_MAX_BUCKETS = 20_000
"""Default number of clients whose buckets are kept, which bounds the memory."""


def network_of(address: str) -> str:
    """Return the unit that one client can hold: an IPv4 address, or the /64 network of an IPv6 one.

    Args:
        address: an IP address, also in brackets or with a zone. Other text is returned as it is,
            cut to 64 characters.
    """
    try:
        ip = ipaddress.ip_address(address.strip("[]").partition("%")[0])
    except ValueError:
        return address[:_MAX_ADDRESS_CHARACTERS]
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((ip, 64), strict=False))


class Buckets:
    """One bucket per client; the least recently used ones are discarded.

    Args:
        rate: tokens per second; 0 for no limit.
        burst: capacity of a bucket.
        most: maximum number of buckets.
    """

    def __init__(self, rate: float, burst: float, most: int = _MAX_BUCKETS) -> None:
        self._rate = rate
        self._burst = burst
        self._most = most
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str, now: float) -> int:
        """Take a token.

        Args:
            who: the client.
            now: the time in seconds, from a monotonic clock.

        Returns:
            0 if a token was taken, otherwise the seconds until one is available.
        """
        if not self._rate:
            return 0
        wait, left = self._look(who, now)
        self._left.pop(who, None)
        self._left[who] = (left if wait else left - 1, now)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        return wait

    def wait(self, who: str, now: float) -> int:
        """Return the seconds until `take` succeeds; 0 if it succeeds now."""
        return self._look(who, now)[0] if self._rate else 0

    def _look(self, who: str, now: float) -> tuple[int, float]:
        left, since = self._left.get(who, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        return (0 if left >= 1 else math.ceil((1 - left) / self._rate)), left
