"""The command `pokearena web`: serve only the web pages."""

from __future__ import annotations

from dataclasses import asdict

import rich_click as click

from arena.cli import output
from arena.cli.errors import UNREACHABLE, CommandError
from arena.cli.options import data_option, json_option, web_options
from arena.cli.workspace import Workspace
from arena.services.web_process import PortTaken, WebSettings, address_of, listen


@click.command(epilog="Example: pokearena web --port 8080")
@web_options
@json_option
@data_option
def web(
    host: str, port: int, web_settings: WebSettings, as_json: bool, workspace: Workspace
) -> None:
    """Serve only the web pages until Ctrl-C: ladders, matches and replays.

    Matches are played by other processes. The pages show them live if these processes use the same
    Redis (POKEARENA_REDIS_URL, or services of the same data folder), and otherwise when they close.
    The server does not write data, except that owners can push bots while `pokearena serve` runs
    for the same data folder.
    """
    from arena.cli.services import running_services
    from arena.submissions.pending_uploads import PendingUploads
    from arena.web import server
    from arena.web.data.web_state import ServerSettings
    from referee import logs

    logs.set_up()
    engine = workspace.existing_store
    try:
        listening = listen(host, port)
    except PortTaken as error:
        raise CommandError(str(error), UNREACHABLE) from None
    address = address_of(listening, web_settings.root_path)
    if as_json:
        output.document({"page": address, "data": str(workspace.folder.root)})
    else:
        output.line(f"page  {address}")
        output.hint("Ctrl-C stops it")
    settings = ServerSettings(
        **asdict(web_settings),
        redis=running_services.redis_of(workspace),
        pending_uploads=PendingUploads(workspace.folder.submissions),
        data=workspace.folder.root,
    )
    server.serve(engine, settings, listening)
