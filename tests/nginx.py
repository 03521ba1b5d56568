"""Run nginx with a configuration of the test."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.waiting import wait_until

CONFIGURATION = """
daemon off;
# Without root it has no effect; with root its worker otherwise could not read the test's files.
user root;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    types {{ text/html html; text/css css; application/javascript js; }}
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {address};
        {locations}
    }}
}}
"""


@contextmanager
def nginx(folder: Path, locations: str) -> Iterator[str]:
    """Serve until the block ends; yield the origin.

    Args:
        folder: an existing folder for the files of nginx.
        locations: the content of its server block.
    """
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("nginx is not installed, and in CI nothing is skipped")
        pytest.skip("nginx is not installed (apt-get install nginx)")
    # nginx finds the descriptor of a socket that it inherits in a variable, so no port is fixed.
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        file = folder / "nginx.conf"
        file.write_text(CONFIGURATION.format(folder=folder, address=address, locations=locations))
        running = subprocess.Popen(
            [program, "-p", folder, "-c", file, "-e", folder / "error.log"],
            env={**os.environ, "NGINX": f"{listening.fileno()};"},
            pass_fds=[listening.fileno()],
        )
    try:
        wait_until(lambda: (folder / "pid").exists() or running.poll() is not None)
        assert running.poll() is None, (folder / "error.log").read_text()
        yield f"http://{address}"
    finally:
        running.terminate()
        running.wait()
