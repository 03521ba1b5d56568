"""Test which forms are accepted, by the headers that browsers and programs send."""

import pytest
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request

from arena.web.serving.security import check_form_origin

HOST = "arena.example.org"
ACCEPTED: list[dict[str, str]] = [
    # A program, which has no cookie that another site could use.
    {"host": HOST},
    # Sec-Fetch-Site decides if it is there.
    {"host": HOST, "sec-fetch-site": "same-origin"},
    {"host": HOST, "sec-fetch-site": "none"},
    {"host": "proxy.internal", "sec-fetch-site": "same-origin", "origin": f"https://{HOST}"},
    # Otherwise the origin, whose scheme is that of the browser's side of a proxy.
    {"host": HOST, "origin": f"http://{HOST}"},
    {"host": HOST, "origin": f"https://{HOST}"},
    {"host": f"{HOST}:80", "origin": f"http://{HOST}"},
    {"host": HOST, "origin": f"http://{HOST}:80"},
    {"host": f"{HOST}:443", "origin": f"https://{HOST}"},
    {"host": f"{HOST}:8000", "origin": f"http://{HOST}:8000"},
    {"host": HOST.upper(), "origin": f"HTTP://{HOST}"},
    {"host": "[::1]:8000", "origin": "http://[::1]:8000"},
    {"host": "[::1]", "origin": "http://[::1]"},
]
REFUSED: list[dict[str, str]] = [
    {"host": HOST, "sec-fetch-site": "cross-site"},
    {"host": HOST, "sec-fetch-site": "same-site"},
    {"host": HOST, "sec-fetch-site": ""},
    {"host": HOST, "sec-fetch-site": "cross-site", "origin": f"https://{HOST}"},
    {"host": HOST, "origin": "null"},
    {"host": HOST, "origin": ""},
    {"host": HOST, "origin": "http://"},
    {"host": HOST, "origin": HOST},
    {"host": HOST, "origin": "https://evil.example"},
    {"host": HOST, "origin": f"https://{HOST}.evil.example"},
    {"host": HOST, "origin": f"https://evil.{HOST}"},
    {"host": HOST, "origin": f"https://user@{HOST}"},
    {"host": HOST, "origin": f"ftp://{HOST}"},
    {"host": HOST, "origin": f"https://{HOST}:8443"},
    {"host": f"{HOST}:8000", "origin": f"http://{HOST}"},
    {"host": f"{HOST}:8000", "origin": f"http://{HOST}:8001"},
    {"host": f"{HOST}:80", "origin": f"https://{HOST}"},
    {"host": "[::1]:8000", "origin": "http://[::1]"},
    {"host": "", "origin": "http://"},
    {"origin": f"https://{HOST}"},
]


def request(headers: dict[str, str]) -> Request:
    return Request({"type": "http", "method": "POST", "headers": Headers(headers).raw})


def is_accepted(headers: dict[str, str], *, proxied: bool = False) -> bool:
    try:
        check_form_origin(request(headers), proxied=proxied)
    except HTTPException:
        return False
    return True


@pytest.mark.parametrize("proxied", [False, True])
@pytest.mark.parametrize(
    ("headers", "accepted"),
    [*((headers, True) for headers in ACCEPTED), *((headers, False) for headers in REFUSED)],
)
def test_forms_of_other_sites_are_refused(
    headers: dict[str, str], accepted: bool, proxied: bool
) -> None:
    assert is_accepted(headers, proxied=proxied) is accepted


@pytest.mark.parametrize("forwarded", [HOST, f"{HOST}:443", f"evil.example, {HOST}"])
def test_only_a_trusted_proxy_names_the_host(forwarded: str) -> None:
    headers = {"host": "127.0.0.1:8000", "origin": f"https://{HOST}", "x-forwarded-host": forwarded}
    assert is_accepted(headers, proxied=True)
    assert not is_accepted(headers, proxied=False)
    assert not is_accepted({**headers, "origin": "null"}, proxied=True)
    assert not is_accepted({**headers, "origin": "https://evil.example"}, proxied=True)


def test_every_one_of_several_origins_is_checked() -> None:
    twice = Request(
        {
            "type": "http",
            "method": "POST",
            "headers": [
                (b"host", HOST.encode()),
                (b"origin", f"https://{HOST}".encode()),
                (b"origin", b"https://evil.example"),
            ],
        }
    )
    with pytest.raises(HTTPException):
        check_form_origin(twice, proxied=False)
