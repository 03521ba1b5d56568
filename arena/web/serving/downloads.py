"""File downloads: record and transcripts of a match, bundle and static site of a tournament."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import anyio
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from arena.errors import StoreError
from arena.models.transcripts import TRANSCRIPT as TRANSCRIPT_END
from arena.records import published_faults
from arena.records.bundle import folder
from arena.records.bundle.collection import gather
from arena.store.matches import listing, results
from arena.store.schema import TournamentState
from arena.store.tournaments import tournaments
from arena.system import temporary_folder
from arena.web import static_site
from arena.web.data.web_state import WebState
from arena.web.management.access import find_access
from arena.web.page import Forbidden, PageNotFound
from arena.web.pages.match import may_read_transcript, transcripts_of
from arena.web.serving.error_responses import without_command
from arena.web.serving.responses import Endpoint

RECORD = "/matches/{match}.jsonl"
TRANSCRIPT = "/matches/{match}/transcripts/{version}"
BUNDLE = "/tournaments/{tournament}/bundle.tar.gz"
MOST_BUNDLE_GAMES = 50_000
"""Number of games above which a bundle is not created on request."""
MOST_SITE_GAMES = 1000
"""Number of games above which a site is not written on request."""


def routes(web: WebState, failing: Callable[[Endpoint], Endpoint]) -> list[Route]:
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
        return archive_response(packed, "application/gzip")

    return [
        Route(RECORD, failing(record)),
        Route(TRANSCRIPT, failing(transcript)),
        Route(BUNDLE, failing(bundle)),
    ]


def archive_response(
    packed: Path, media_type: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the response with an archive, whose temporary folder is removed afterwards."""
    remove = BackgroundTask(temporary_folder.remove, packed.parent)
    return FileResponse(
        packed, headers=headers, media_type=media_type, filename=packed.name, background=remove
    )


def _packed(name: str, write: Callable[[Path], None]) -> Path:
    """Return the path of an archive in a new temporary folder, which `write` has written."""
    temporary = temporary_folder.create(Path(tempfile.gettempdir()), temporary_folder.PREFIX)
    try:
        write(temporary / name)
    except BaseException:
        temporary_folder.remove(temporary)
        raise
    return temporary / name


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
    """Return the path of a bundle in a new temporary folder."""
    stored = tournaments.find_tournament(web.engine, tournament)
    if stored.state is not TournamentState.CLOSED:
        raise PageNotFound(f"{tournament} is not closed; its bundle is available when it is.")
    if tournaments.progress(web.engine, tournament).games > MOST_BUNDLE_GAMES:
        raise HTTPException(
            413,
            f"{tournament} is too large for a download; the organiser can "
            f"write it with `pokearena tournament bundle {tournament}`.",
        )

    def write(packed: Path) -> None:
        files = packed.parent / tournament
        folder.write(gather(web.engine, tournament, published_faults.public_record), files)
        with tarfile.open(packed, "w:gz", compresslevel=5) as archive:
            archive.add(files, tournament, filter=_without_account)
        shutil.rmtree(files)

    return _packed(f"{tournament}.tar.gz", write)


def pack_site(web: WebState, tournament: str) -> Path:
    """Return the path of a zip archive with a tournament as a static site.

    Raises:
        NotFound: the tournament does not exist.
        HTTPException: 413, it is too large; 409, a record cannot be read.
    """
    stored = tournaments.find_tournament(web.engine, tournament)
    if tournaments.progress(web.engine, stored.id).games > MOST_SITE_GAMES:
        raise HTTPException(
            413,
            f"{stored.id} has more than {MOST_SITE_GAMES} games; write its site with "
            f"`pokearena tournament export {stored.id} DIR`.",
        )

    def write(packed: Path) -> None:
        site = packed.parent / stored.id
        static_site.write(web.engine, stored.id, site)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(each for each in site.rglob("*") if each.is_file()):
                archive.write(file, file.relative_to(packed.parent))

    try:
        return _packed(f"{stored.id}.zip", write)
    except StoreError as error:
        raise HTTPException(409, without_command(error)) from None


def _without_account(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove the account names and IDs of the server's user."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
