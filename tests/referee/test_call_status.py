"""Test the status of failed calls, by the published tables of gRPC.

doc/http-grpc-status-mapping.md, and PROTOCOL-HTTP2.md, section "Errors".
"""

import pytest
from grpc import StatusCode

from referee.rpc.call import of_reset, of_trailers

BY_HTTP = {
    "400": StatusCode.INTERNAL,
    "401": StatusCode.UNAUTHENTICATED,
    "403": StatusCode.PERMISSION_DENIED,
    "404": StatusCode.UNIMPLEMENTED,
    "429": StatusCode.UNAVAILABLE,
    "502": StatusCode.UNAVAILABLE,
    "503": StatusCode.UNAVAILABLE,
    "504": StatusCode.UNAVAILABLE,
}
BY_RESET = {
    0x7: StatusCode.UNAVAILABLE,
    0x8: StatusCode.CANCELLED,
    0xB: StatusCode.RESOURCE_EXHAUSTED,
    0xC: StatusCode.PERMISSION_DENIED,
}


def test_every_http_status_has_its_published_code() -> None:
    statuses = [str(number) for number in range(100, 600)]
    codes = {status: of_trailers({}, status).code for status in statuses}
    assert codes == dict.fromkeys(statuses, StatusCode.UNKNOWN) | BY_HTTP


def test_every_reset_has_its_published_code() -> None:
    codes = {number: of_reset(number).code for number in range(14)}
    assert codes == dict.fromkeys(range(14), StatusCode.INTERNAL) | BY_RESET


@pytest.mark.parametrize("code", StatusCode, ids=lambda code: code.name)
def test_a_status_of_the_trailers_precedes_the_http_status(code: StatusCode) -> None:
    status = of_trailers({"grpc-status": str(code.value[0]), "grpc-message": "a%20b"}, "503")
    assert (status.code, status.details) == (code, "a b")
