"""Clients of Redis."""

import redis
from redis import Redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry


def connect(url: str) -> Redis:
    """A client for the Redis at `url`. Connects when first used, and tries a few times."""
    return redis.Redis.from_url(
        url,
        socket_connect_timeout=5,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.05), 3),
    )
