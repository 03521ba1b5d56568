"""Start the bridge as a separate process, then become the program.

This process soon becomes the program, so it imports only the necessary modules. The bridge is a
grandchild, so that the program does not have an unexpected child.
"""

import os
import signal
import sys

ADDRESS = "POKEARENA_ADDRESS"
NOT_RUN = 126
NOT_FOUND = 127


def main(words: list[str]) -> None:
    """Run the command `words` (after an optional "--") as a bot; does not return."""
    command = words[1:] if words[:1] == ["--"] else words
    address = os.environ.pop(ADDRESS, "")
    if not command or not address:
        sys.exit(
            f"Set {ADDRESS} to where the bot is to listen, for example unix:/tmp/bot.sock, and "
            "write: python -m arena.bots.stdio -- PROGRAM [ARGUMENT ...]"
        )
    if sys.platform == "win32":
        sys.exit('Windows cannot run a bot with transport = "stdio"; use gRPC, or WSL 2.')
    from_bridge, to_program = os.pipe()
    from_program, to_bridge = os.pipe()
    if _is_grandchild():
        os.close(from_bridge)
        os.close(to_bridge)
        from arena.bots.stdio.bridge import run

        run(address, to_program, from_program)
    os.dup2(from_bridge, 0)
    os.dup2(to_bridge, 1)
    # Python ignores these two, and the program would inherit that.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]} could not be started: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_RUN)


def _is_grandchild() -> bool:
    """Fork twice; return True in the grandchild."""
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            return True
        os._exit(0)
    os.waitpid(child, 0)
    return False


if __name__ == "__main__":
    main(sys.argv[1:])
