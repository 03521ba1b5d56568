"""Answers with random bytes instead of a message."""

import random

from wire import serve

serve(lambda request, context: b"\xff" + random.Random(7).randbytes(2000))
