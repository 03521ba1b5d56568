"""Bridge between gRPC and the standard input and output of bots that read and write lines.

``python -m arena.bots.stdio -- PROGRAM ...`` becomes PROGRAM and starts a bridge process. The
bridge listens at POKEARENA_ADDRESS like any bot and sends each question to the program as one line
of JSON. docs/reference/protocol.md specifies the lines. For the arena it is a normal gRPC bot. The
started process is the program itself, so exit status, signals and limits apply to the program.
"""
