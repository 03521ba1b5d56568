"""Uploads of owners: received here, processed by arena.submissions."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import anyio
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from arena.bots import browser_archive
from arena.bots.browser_archive import SentFile
from arena.errors import BotError, TooMany
from arena.models.models_file import ModelsFileError
from arena.store import ids
from arena.store.bots import submissions
from arena.store.bots.submissions import ReceivedUpload, Submission, SubmissionLimits
from arena.submissions import admission
from arena.submissions.admission import SubmissionRefused
from arena.submissions.examination_cost import examination_cost
from arena.submissions.pending_uploads import PendingUploads
from arena.submissions.uploaded_bot import read_uploaded_bot
from arena.system import file_tree, private_files
from arena.web.data.web_state import WebState
from arena.web.pages.submission import positions_of, to_json
from arena.web.serving.request_limits import PUSH
from arena.web.serving.root_path import links_of
from arena.web.serving.security import owner_of

ADDRESS: Final = PUSH
UPLOAD: Final = "account.upload"
"""Name of the upload form."""
_ZIP: Final = b"PK"
_MAX_UPLOADS: Final = 32
"""Number of uploads that are received at the same time."""
_MAX_UPLOADS_PER_OWNER: Final = 2
_SILENT_SECONDS: Final = 20.0
"""Time without any data after which an upload is refused."""
_RETRY_AFTER_SECONDS: Final = "10"


@dataclass(frozen=True, slots=True)
class _AnnouncedUpload:
    """An announced submission, with the sender's unverified values."""

    owner: str
    name: str
    content: str
    number: str


class UploadEndpoint:
    """Receives uploads. Use it from the event loop's thread only."""

    def __init__(self, web: WebState) -> None:
        self._web = web
        self._uploads_by_owner: Counter[str] = Counter()
        self._packing = anyio.CapacityLimiter(1)

    async def receive(self, request: Request) -> Response:
        """Store an upload.

        A request without a body only checks whether the upload would be accepted.
        """
        try:
            with _refusals():
                return await self._receive(request)
        except ClientDisconnect:
            return Response(status_code=400)

    async def _receive(self, request: Request) -> Response:
        owner = await owner_of(request, self._web.engine)
        pending_uploads = await self._pending_uploads()
        query = request.query_params
        announced = _AnnouncedUpload(
            owner, *(query.get(name, "")[:100] for name in ("name", "content", "version"))
        )
        known = await anyio.to_thread.run_sync(self._checked, announced)
        if known is not None:
            return await self._answer(request, known, 200)
        if _is_empty(request):
            declared = query.get("models", "")[:1000].split(",")
            cost = await anyio.to_thread.run_sync(self._examination_cost, announced, declared)
            values = {"wanted": True, "most_bytes": self._most_bytes}
            return JSONResponse(values | ({"examination": cost} if cost else {}))
        with self._counted(owner):
            return await self._store(request, pending_uploads, announced)

    async def receive_files(self, owner: str, pack: Callable[[IO[bytes]], None]) -> Submission:
        """Store the files that a browser has sent, like an upload of a program.

        Args:
            owner: the signed-in owner.
            pack: writes the upload archive.

        Raises:
            HTTPException: the upload is refused.
        """
        with _refusals():
            pending_uploads = await self._pending_uploads()
            await anyio.to_thread.run_sync(submissions.check, self._web.engine, owner, self._limits)
            with self._counted(owner):
                return await anyio.to_thread.run_sync(
                    self._store_files, owner, pack, pending_uploads, limiter=self._packing
                )

    def _store_files(
        self, owner: str, pack: Callable[[IO[bytes]], None], pending_uploads: PendingUploads
    ) -> Submission:
        """Pack the files, read the name and the content of the bot, and add its submission."""
        number = ids.submission_id()
        part, folder = pending_uploads.part(number), pending_uploads.working_directory(number)
        stored: Submission | None = None
        try:
            with open(part, "xb", opener=private_files.opener) as output:
                pack(output)
            size = part.stat().st_size
            if size > self._most_bytes:
                raise SubmissionRefused(413, f"the upload is larger than {self._most_bytes} bytes.")
            try:
                bot, content = read_uploaded_bot(part, folder)
            finally:
                # Before the submission is known: its processing uses the same folder.
                file_tree.remove(folder)
            assert bot.manifest is not None
            name, version = bot.manifest.name, bot.manifest.version or ""
            announced = _AnnouncedUpload(owner, name, content, version)
            stored = self._checked(announced)
            if stored is None:
                upload = ReceivedUpload(number, owner, name, content, size)
                stored = self._add_submission(pending_uploads, upload)
            return stored
        finally:
            if stored is None or stored.id != number:
                pending_uploads.clear(number)

    async def _pending_uploads(self) -> PendingUploads:
        pending_uploads = self._web.settings.pending_uploads
        if pending_uploads is None or not self._web.settings.pushes:
            raise HTTPException(403, "this arena does not accept pushed bots.")
        if not await anyio.to_thread.run_sync(lambda: pending_uploads.is_attended):
            raise HTTPException(
                503,
                "submissions are not processed at the moment, because "
                "`pokearena serve` is not running; retry later.",
                {"Retry-After": _RETRY_AFTER_SECONDS},
            )
        return pending_uploads

    def _examination_cost(
        self, announced: _AnnouncedUpload, declared: Sequence[str]
    ) -> dict[str, Any] | None:
        """Return the cost of the examination; None without models or prices."""
        root, owner = self._web.settings.data, announced.owner
        with contextlib.suppress(ModelsFileError):
            if root is not None:
                return examination_cost(self._web.engine, root, owner, announced.name, declared)
        return None

    def _checked(self, announced: _AnnouncedUpload) -> Submission | None:
        """Check an upload; return the owner's undecided submission with its content hash, if any.

        Raises:
            SubmissionRefused: the submission violates a rule.
            TooMany: the owner has reached a limit.
        """
        engine = self._web.engine
        most_active = self._web.settings.active_versions
        admission.check(
            engine,
            announced.owner,
            announced.name,
            announced.content,
            announced.number,
            most_active=most_active,
        )
        known = submissions.waiting(engine, announced.owner, announced.content)
        if known is None:
            submissions.check(engine, announced.owner, self._limits)
        return known

    @property
    def _limits(self) -> SubmissionLimits:
        return SubmissionLimits(a_day=self._web.settings.pushes)

    @property
    def _most_bytes(self) -> int:
        return self._web.settings.push_mib * 2**20

    @contextlib.contextmanager
    def _counted(self, owner: str) -> Iterator[None]:
        """Count an upload for the duration of the block; raises TooMany at the limit."""
        if (
            self._uploads_by_owner[owner] >= _MAX_UPLOADS_PER_OWNER
            or self._uploads_by_owner.total() >= _MAX_UPLOADS
        ):
            raise TooMany("too many uploads at the same time; retry in 10 s.", 10)
        self._uploads_by_owner[owner] += 1
        try:
            yield
        finally:
            self._uploads_by_owner[owner] -= 1
            self._uploads_by_owner += Counter()

    async def _store(
        self, request: Request, pending_uploads: PendingUploads, announced: _AnnouncedUpload
    ) -> Response:
        """Receive the body and add its submission; otherwise delete what was received."""
        number = ids.submission_id()
        stored: Submission | None = None
        try:
            size = await _write_body(request, pending_uploads.part(number))
            upload = ReceivedUpload(
                number, announced.owner, announced.name, announced.content, size
            )
            stored = await anyio.to_thread.run_sync(self._add_submission, pending_uploads, upload)
        finally:
            if stored is None or stored.id != number:
                pending_uploads.clear(number)
        return await self._answer(request, stored, 201)

    async def _answer(self, request: Request, submission: Submission, status: int) -> Response:
        positions = await anyio.to_thread.run_sync(positions_of, self._web, [submission])
        values = to_json(submission, owned=True, position=positions.get(submission.id))
        page = links_of(request).to("submissions", submission.id)
        return JSONResponse(values, status, {"Location": page, "Cache-Control": "no-store"})

    def _add_submission(
        self, pending_uploads: PendingUploads, upload: ReceivedUpload
    ) -> Submission:
        pending_uploads.settle(upload.id)
        return submissions.add_submission(self._web.engine, upload, self._limits)


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    """Convert the refusal of an upload to an HTTPException."""
    try:
        yield
    except (SubmissionRefused, BotError) as refused:
        status = refused.status if isinstance(refused, SubmissionRefused) else 422
        raise HTTPException(status, str(refused)) from None
    except TooMany as error:
        raise HTTPException(429, str(error), {"Retry-After": str(error.wait)}) from None


def _is_empty(request: Request) -> bool:
    headers = request.headers
    return headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers


async def _write_body(request: Request, file: Path) -> int:
    """Write the body of a request to a file and return its size."""
    size = 0
    chunks = request.stream()
    async with await anyio.open_file(file, "xb", opener=private_files.opener) as output:
        while True:
            try:
                async with asyncio.timeout(_SILENT_SECONDS):
                    chunk = await anext(chunks, None)
            except TimeoutError:
                raise HTTPException(408, "timeout: the upload has stalled.") from None
            if chunk is None:
                return size
            size += len(chunk)
            await output.write(chunk)


def packing_of(uploads: Sequence[UploadFile]) -> Callable[[IO[bytes]], None]:
    """Return the function that writes the sent files as an upload archive.

    One file that begins like a zip archive is one. The function raises BotError.
    """
    sent = [each for each in uploads if each.filename]

    def pack(output: IO[bytes]) -> None:
        if not sent:
            raise BotError("choose a zip archive or a folder.", code="missing")
        first = sent[0].file
        if len(sent) == 1 and _begins_like_zip(first):
            browser_archive.pack_zip(first, output)
        else:
            browser_archive.pack_files(list(map(_sent_file, sent)), output)

    return pack


def _begins_like_zip(file: IO[bytes]) -> bool:
    file.seek(0)
    return file.read(2) == _ZIP


def _sent_file(upload: UploadFile) -> SentFile:
    @contextlib.contextmanager
    def opened() -> Iterator[IO[bytes]]:
        # The form closes its files.
        upload.file.seek(0)
        yield upload.file

    return SentFile(upload.filename or "", upload.size or 0, 0, opened)
