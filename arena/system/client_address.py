"""Addresses of clients, as limits per client count them."""

from __future__ import annotations

import ipaddress

_LONGEST = 64


def network_of(address: str) -> str:
    """Return the unit that one client can hold: an IPv4 address, or the /64 network of an IPv6 one.

    Args:
        address: an IP address, also in brackets or with a zone. Other text is returned as it is,
            cut to 64 characters.
    """
    try:
        ip = ipaddress.ip_address(address.strip("[]").partition("%")[0])
    except ValueError:
        return address[:_LONGEST]
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((ip, 64), strict=False))
