"""Run the processes of bots in sandboxes, and find the levels of isolation that this machine
offers.

Uses `arena.bots.bot`, `arena.bots.exit_report`, `arena.bots.manifest`, `arena.bots.processes`,
`arena.errors` and `arena.system`. Used by `arena.bots.build`, `arena.bots.processes`, `arena.cli`,
`arena.matches`, `arena.services` and `arena.submissions`.

The launcher is a program that owns the bot processes of one table, so that none of them outlives
the table.

It runs as a child process of its own and must start in a few hundredths of a second, so it
imports little and nothing else of the arena. Its argument is the process id of its owner.

Commands come as JSON lines on its standard input:

    {"do": "start", "bot": 1, "argv": [...], "cwd": "...", "env": {...}, "directory": "...",
     "limits": {"nofile": 1024, "fsize": 67108864, "data": 2147483648, "output": 8388608, ...},
     "level": "bubblewrap", "bwrap": "/usr/bin/bwrap", "own": "...", "read": [...]}
    {"do": "tail", "bot": 1}     asks what the bot has written so far, and whether it is ending
    {"do": "stop", "bot": 1}     SIGTERM, and SIGKILL a moment later

and reports leave as JSON lines on its standard output:

    {"bot": 1, "event": "tail", "output": "...", "ending": false,
     "peak_memory": 20000000}
    {"bot": 1, "event": "ended", "output": "...", "written": 12, "flooded": false,
     "status": 256, "peak_memory": 20000000, "excess": "", "failed": null, "broken": null}

A bot has ended when its first process has; whatever that left behind is killed before the report
leaves. ``status`` is the wait status of that process. ``peak_memory`` is the most bytes that all
its processes have held together where there are control groups, else the largest of them.
``excess`` says what it had too much of, if it was killed for that. ``failed`` says why the program
could not be started, ``broken`` what went wrong on our side; both are null as a rule.
``directory`` is made by the keeper, private to the bot, and removed at the end.

Between the keeper and each bot stands a guard, a fork of the keeper. It is the bot's parent and
adopts all its orphans, so that a process of one bot is never taken for another's. Guards and
keeper talk over pipes: when the owner dies, however it dies, the keeper reads the end of its
input and goes; the guards read the end of theirs, kill everything below them, and go too.
"""
