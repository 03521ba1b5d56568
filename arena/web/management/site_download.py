"""Download of a tournament as a static site, in a zip archive."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Final

import anyio
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response

from arena.errors import StoreError
from arena.store.tournaments import tournaments
from arena.system import temporary_folder
from arena.web import static_site
from arena.web.data.web_state import WebState
from arena.web.serving.error_responses import without_command

PATH: Final = "/organiser/tournaments/{id}/site.zip"
MOST_GAMES: Final = 1000
"""Number of games above which a site is not written on request."""


class SiteDownloads:
    """Writes sites, one at a time."""

    def __init__(self, web: WebState) -> None:
        self._web = web
        self._one_at_a_time = anyio.CapacityLimiter(1)

    async def response(self, tournament: str) -> Response:
        """Return the response with the archive of a tournament.

        Raises:
            NotFound: the tournament does not exist.
            HTTPException: 413, it is too large; 409, a record cannot be read.
        """
        packed = await anyio.to_thread.run_sync(
            self._packed, tournament, limiter=self._one_at_a_time
        )
        return FileResponse(
            packed,
            headers={"Cache-Control": "no-store"},
            media_type="application/zip",
            filename=f"{tournament}.zip",
            background=BackgroundTask(temporary_folder.remove, packed.parent),
        )

    def _packed(self, tournament: str) -> Path:
        """Write a site to a new directory and return the path of its archive."""
        stored = tournaments.find_tournament(self._web.engine, tournament)
        if tournaments.progress(self._web.engine, stored.id).games > MOST_GAMES:
            raise HTTPException(
                413,
                f"{stored.id} has more than {MOST_GAMES} games; write its site with "
                f"`pokearena tournament export {stored.id} DIR`.",
            )
        temporary = temporary_folder.create(Path(tempfile.gettempdir()), temporary_folder.PREFIX)
        try:
            site, packed = temporary / stored.id, temporary / f"{stored.id}.zip"
            static_site.write(self._web.engine, stored.id, site)
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                for file in sorted(each for each in site.rglob("*") if each.is_file()):
                    archive.write(file, file.relative_to(temporary))
        except StoreError as error:
            temporary_folder.remove(temporary)
            raise HTTPException(409, without_command(error)) from None
        except BaseException:
            temporary_folder.remove(temporary)
            raise
        return packed
