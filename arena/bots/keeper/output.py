"""What a bot has written, as much of it as is kept."""

HEAD = 4 * 1024
TAIL = 64 * 1024


class Output:
    """The first 4 KiB and the last 64 KiB of what a bot has written, and how much it was."""

    def __init__(self) -> None:
        self.head = b""
        self.tail = b""
        self.written = 0

    def add(self, data: bytes) -> None:
        """Takes in what comes next."""
        self.written += len(data)
        room = HEAD - len(self.head)
        self.head += data[:room]
        self.tail = (self.tail + data[room:])[-TAIL:]

    def text(self) -> str:
        """What is kept, with a line in the place of what is not."""
        left_out = self.written - len(self.head) - len(self.tail)
        gap = f"\n[{left_out} bytes are left out here]\n".encode() if left_out else b""
        return (self.head + gap + self.tail).decode("utf-8", "replace")
