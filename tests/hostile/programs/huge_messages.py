"""Answers with 64 MiB."""

from wire import serve

serve(lambda request, context: bytes(64 << 20))
