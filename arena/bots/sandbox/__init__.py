"""Run the processes of bots in sandboxes, and find the isolation levels that this machine offers.

The sandbox launcher is a program that owns the bot processes of one table, so that none of them
outlives the table.

It runs as a separate child process and must start in a few hundredths of a second. It therefore
imports little, from the arena only this package and `arena.system.file_tree`. Its argument is the
process id of its owner.

The launcher reads commands as JSON lines from its standard input:

    {"do": "start", "bot": 1, "argv": [...], "cwd": "...", "env": {...}, "directory": "...",
     "limits": {"nofile": 1024, "fsize": 67108864, "data": 2147483648, "output": 8388608, ...},
     "level": "bubblewrap", "bwrap": "/usr/bin/bwrap", "own": "...", "read": [...]}
    {"do": "tail", "bot": 1}     requests the output so far, and whether the bot is ending
    {"do": "stop", "bot": 1}     sends SIGTERM, and SIGKILL after limits["stop_ms"]

It writes reports as JSON lines to its standard output:

    {"bot": 1, "event": "tail", "output": "...", "ending": false,
     "peak_memory": 20000000}
    {"bot": 1, "event": "ended", "output": "...", "written": 12, "flooded": false,
     "status": 256, "peak_memory": 20000000, "excess": "", "failed": null, "broken": null}

A bot has ended when its first process has ended. All its other processes are killed before the
report is sent. The fields of the reports are:

- ``status``: the wait status of the first process.
- ``peak_memory``: peak memory in bytes of all processes together, without control groups of the
  largest one.
- ``excess``: the limit that the bot exceeded, if it was killed for that.
- ``failed``: why the program could not be started; usually null.
- ``broken``: an error of the sandbox itself; usually null.

The launcher creates ``directory`` for the bot alone and removes it at the end.

Between the launcher and each bot there is an init process, a fork of the launcher. It is the bot's
parent and adopts all its orphans, so that processes of different bots cannot be confused. Init
processes and launcher communicate over pipes. When the owner exits for any reason, the launcher
reads the end of its input and exits. Each init process then reads the end of its pipe, kills all
its descendants and exits.
"""
