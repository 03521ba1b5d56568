"""File downloads: the record of a match, its transcripts, and the bundle of a tournament."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import anyio
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from arena.models.transcripts import TRANSCRIPT as TRANSCRIPT_END
from arena.records import published_faults
from arena.records.bundle import folder
from arena.records.bundle.collection import gather
from arena.store.matches import listing, results
from arena.store.schema import TournamentState
from arena.store.tournaments import tournaments
from arena.system import temporary_folder
from arena.web.data.web_state import WebState
from arena.web.management.access import find_access
from arena.web.page import Forbidden, PageNotFound
from arena.web.pages.match_transcripts import may_read_transcript, transcripts_of
from arena.web.serving.responses import Endpoint

RECORD = "/matches/{match}.jsonl"
TRANSCRIPT = "/matches/{match}/transcripts/{version}"
BUNDLE = "/tournaments/{tournament}/bundle.tar.gz"
MOST_GAMES = 50_000
"""Number of games above which a bundle is not created on request."""


def routes(web: WebState, failing: Callable[[Endpoint], Endpoint]) -> list[Route]:
    """Return the routes of the downloads.

    Args:
        web: the server's state.
        failing: wraps an endpoint to convert exceptions to error responses.
    """
    one_at_a_time = anyio.CapacityLimiter(1)

    async def record(request: Request) -> Response:
        match = request.path_params["match"]
        text = await anyio.to_thread.run_sync(_record, web, match)
        name = {"Content-Disposition": f'attachment; filename="{match}.jsonl"'}
        return Response(text, headers=name, media_type="application/jsonl")

    async def transcript(request: Request) -> Response:
        path = await anyio.to_thread.run_sync(_transcript, web, request)
        name = f"{request.path_params['match']}-{path.name}"
        headers = {"Cache-Control": "no-store"}
        return FileResponse(path, headers=headers, media_type="application/jsonl", filename=name)

    async def bundle(request: Request) -> Response:
        tournament = request.path_params["tournament"]
        packed = await anyio.to_thread.run_sync(_bundle, web, tournament, limiter=one_at_a_time)
        return FileResponse(
            packed,
            media_type="application/gzip",
            filename=f"{tournament}.tar.gz",
            background=BackgroundTask(temporary_folder.remove, packed.parent),
        )

    return [
        Route(RECORD, failing(record)),
        Route(TRANSCRIPT, failing(transcript)),
        Route(BUNDLE, failing(bundle)),
    ]


def _record(web: WebState, match: str) -> str:
    return published_faults.public_record(results.record(web.engine, match))


def _transcript(web: WebState, request: Request) -> Path:
    """Return the path of the transcript of a version in a match.

    Raises:
        Forbidden: the sender may not read it.
        PageNotFound: this machine does not have it.
    """
    match = listing.find_match(web.engine, request.path_params["match"])
    version = request.path_params["version"]
    access = find_access(request, web.engine)
    if access is None or not may_read_transcript(web, access.identity, match, version):
        raise Forbidden(
            "the transcript of a closed match is for the owner of the bot and for organisers."
        )
    for path in transcripts_of(web, match):
        if path.name == f"{version}{TRANSCRIPT_END}":
            return path
    raise PageNotFound(f"this machine has no transcript of {version} in {match.id}.")


def _bundle(web: WebState, tournament: str) -> Path:
    """Write a bundle to a new directory and return the archive's path."""
    stored = tournaments.find_tournament(web.engine, tournament)
    if stored.state is not TournamentState.CLOSED:
        raise PageNotFound(f"{tournament} is not closed; its bundle is available when it is.")
    if tournaments.progress(web.engine, tournament).games > MOST_GAMES:
        raise HTTPException(
            413,
            f"{tournament} is too large for a download; the organiser can "
            f"write it with `pokearena tournament bundle {tournament}`.",
        )
    temporary = temporary_folder.create(Path(tempfile.gettempdir()), temporary_folder.PREFIX)
    try:
        folder.write(
            gather(web.engine, tournament, published_faults.public_record), temporary / tournament
        )
        packed = temporary / f"{tournament}.tar.gz"
        with tarfile.open(packed, "w:gz", compresslevel=5) as archive:
            archive.add(temporary / tournament, tournament, filter=_without_account)
        shutil.rmtree(temporary / tournament)
    except BaseException:
        temporary_folder.remove(temporary)
        raise
    return packed


def _without_account(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove the account names and IDs of the server's user."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
