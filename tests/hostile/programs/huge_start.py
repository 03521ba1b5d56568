"""Says 64 MiB when it is told what will be played."""

from wire import serve

serve(act=lambda request, context: b"", start=lambda request, context: bytes(64 << 20))
