"""Create Redis clients."""

import redis
from redis import Redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.retry import Retry


def connect(url: str) -> Redis:
    """Create a client for the Redis server at `url`.

    It connects at its first use and retries up to 3 times with increasing pauses.
    """
    return redis.Redis.from_url(
        url,
        socket_connect_timeout=5,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.05), 3),
    )


def connect_briefly(url: str, seconds: float, retries: int = 0) -> Redis:
    """Create a client that waits this time, in seconds, and retries without pauses."""
    return redis.Redis.from_url(
        url,
        socket_timeout=seconds,
        socket_connect_timeout=seconds,
        retry=Retry(NoBackoff(), retries),
    )
