"""Status of a gRPC call: its code and message (gRPC over HTTP/2, "Responses")."""

from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from grpc import StatusCode

from referee.rpc.http2 import ErrorCode, Headers

_CODES = {code.value[0]: code for code in StatusCode}
_BY_HTTP = {
    "400": StatusCode.INTERNAL,
    "401": StatusCode.UNAUTHENTICATED,
    "403": StatusCode.PERMISSION_DENIED,
    "404": StatusCode.UNIMPLEMENTED,
    "429": StatusCode.UNAVAILABLE,
    "502": StatusCode.UNAVAILABLE,
    "503": StatusCode.UNAVAILABLE,
    "504": StatusCode.UNAVAILABLE,
}
_BY_RESET: dict[int, StatusCode] = {
    ErrorCode.REFUSED_STREAM: StatusCode.UNAVAILABLE,
    ErrorCode.CANCEL: StatusCode.CANCELLED,
    ErrorCode.ENHANCE_YOUR_CALM: StatusCode.RESOURCE_EXHAUSTED,
    ErrorCode.INADEQUATE_SECURITY: StatusCode.PERMISSION_DENIED,
}


@dataclass(frozen=True, slots=True)
class Status:
    """Final status of a call."""

    code: StatusCode
    details: str = ""


@dataclass(slots=True)
class CallFailed(Exception):
    """A call failed or could not begin."""

    status: Status


def of_trailers(headers: Headers, http: str) -> Status:
    """Return the status in the trailers of a call.

    Args:
        headers: the trailers.
        http: the HTTP status of the response.
    """
    number = headers.get("grpc-status")
    if number is None:
        if http == "200":
            return Status(StatusCode.UNKNOWN, "it ended without a status")
        code = _BY_HTTP.get(http, StatusCode.UNKNOWN)
        return Status(code, f"Received http2 header with status: {http}")
    known = number.isascii() and number.isdigit() and len(number) < 4
    code = _CODES.get(int(number), StatusCode.UNKNOWN) if known else StatusCode.UNKNOWN
    return Status(code, _details(headers.get("grpc-message", "")))


def of_reset(code: int) -> Status:
    """Return the status of a call whose stream the peer has reset."""
    status = _BY_RESET.get(code, StatusCode.INTERNAL)
    return Status(status, f"Received RST_STREAM with error code {code}")


def _details(message: str) -> str:
    data = unquote_to_bytes(message.encode("latin-1"))
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")
