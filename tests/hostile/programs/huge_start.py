"""Answers Start with 64 MiB."""

from wire import serve

serve(act=lambda request, context: b"", start=lambda request, context: bytes(64 << 20))
