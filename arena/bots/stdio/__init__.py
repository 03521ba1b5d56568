"""Bots that read and write lines: a bridge between a program's standard input and output and gRPC.

Uses no other package of the arena. No other package uses it.

``python -m arena.bots.stdio -- PROGRAM ...`` becomes PROGRAM, and leaves a bridge beside it that
listens at POKEARENA_ADDRESS as any bot does and tells the program its questions as JSON, a message
a line. docs/protocol.md says what the lines are. To everybody else it is one more gRPC bot: the
process that was started is the program itself, so its exit status, its signals and its limits are
its own.
"""
