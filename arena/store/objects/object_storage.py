"""Client of the object storage: write, read and delete objects by key, with `obstore`.

The setting POKEARENA_OBJECT_STORAGE_URL names the storage, `s3://BUCKET/PREFIX` or
`file:///FOLDER`. The usual AWS variables hold the credentials, the region and the endpoint.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from arena import config
from arena.errors import StoreError
from arena.system import private_files

if TYPE_CHECKING:
    from obstore.store import ObjectStore
    from sqlalchemy import Engine

PIECE: Final = 1 << 20
"""Bytes that are read at once."""

_REQUEST_SECONDS: Final = 120
_CONNECT_SECONDS: Final = 5
_RETRIES: Final = 3
_RETRY_SECONDS: Final = 15
_KNOWN: Final = "s3://BUCKET, s3://BUCKET/PREFIX or file:///FOLDER"
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
# Without credentials in the environment, obstore requests them from the machine's metadata service.
_METADATA: Final = ("169.254.169.254", "169.254.170.2")


class ObjectStorageError(StoreError):
    """An object cannot be written or read."""


class StorageUnavailable(ObjectStorageError):
    """The object storage is not set, does not answer, or refuses a request."""


class ObjectLost(ObjectStorageError):
    """The object is missing or damaged."""


class ObjectMissing(ObjectLost):
    """The object does not exist."""


class ObjectStorage:
    """A bucket or folder with objects.

    After one process has used it, forks of this process cannot: obstore's threads do not exist in
    them. Processes that fork first are not affected.

    Args:
        shown: its address for messages, without credentials.
    """

    def __init__(self, store: ObjectStore, shown: str) -> None:
        self._store = store
        self.shown = shown

    def put(self, key: str, content: IO[bytes]) -> None:
        """Write an object from the current position of a stream, completely or not at all.

        Raises:
            StorageUnavailable: the storage does not accept it.
        """
        import obstore

        with self._translated(key):
            obstore.put(self._store, key, content)

    def read(self, key: str, digest: str) -> Iterator[bytes]:
        """Yield the pieces of an object; raise after the last one if they have another SHA-256.

        Args:
            digest: the expected SHA-256, in hexadecimal.

        Raises:
            ObjectMissing: it does not exist.
            ObjectLost: it is damaged.
            StorageUnavailable: the storage does not answer.
        """
        import obstore

        total = hashlib.sha256()
        with self._translated(key):
            for piece in obstore.get(self._store, key).stream(min_chunk_size=PIECE):
                content = bytes(piece)
                total.update(content)
                yield content
        if total.hexdigest() != digest:
            raise ObjectLost(
                f"the object {key} in {self.shown} is damaged: its SHA-256 is not the stored one.",
                code="object-damaged",
            )

    def size(self, key: str) -> int:
        """Return the size of an object in bytes.

        Raises:
            ObjectMissing: it does not exist.
            StorageUnavailable: the storage does not answer.
        """
        import obstore

        with self._translated(key):
            return int(obstore.head(self._store, key)["size"])

    def delete(self, key: str) -> None:
        """Delete an object; do nothing if it does not exist.

        Raises:
            StorageUnavailable: the storage does not delete it.
        """
        import obstore

        try:
            with self._translated(key):
                obstore.delete(self._store, key)
        except ObjectMissing:
            pass

    def listing(self) -> Iterator[str]:
        """Yield the keys of all objects.

        Raises:
            StorageUnavailable: the storage does not answer.
        """
        import obstore

        with self._translated(""):
            for batch in obstore.list(self._store):
                for entry in batch:
                    yield str(entry["path"])

    def probe(self) -> None:
        """Write, read and delete a small object.

        Raises:
            StorageUnavailable: one of these is not possible.
        """
        content = secrets.token_bytes(16)
        digest = hashlib.sha256(content).hexdigest()
        key = f"probe/{digest}"
        self.put(key, io.BytesIO(content))
        for _ in self.read(key, digest):
            pass
        self.delete(key)

    @contextmanager
    def _translated(self, key: str) -> Iterator[None]:
        """Raise the errors of obstore as one sentence each."""
        from obstore import exceptions

        _check_process(self.shown)
        try:
            yield
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise self._error("the bucket does not exist", "no-bucket") from None
            raise ObjectMissing(
                f"the object {key} is missing in the object storage {self.shown}.",
                code="object-missing",
            ) from None
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
            reason = f"access is denied ({_reason(error)}); check the AWS credentials"
            raise self._error(reason, "access-denied") from None
        except (exceptions.BaseError, OSError, ValueError) as error:
            raise self._error(_reason(error), "cannot-connect") from None

    def _error(self, reason: str, code: str) -> StorageUnavailable:
        return StorageUnavailable(
            f"the object storage {self.shown} cannot be used: {reason}.", code=code
        )


_user: int | None = None
"""The process that has used obstore; its forks inherit the value."""


def _check_process(shown: str) -> None:
    global _user
    if _user is None:
        _user = os.getpid()
    elif _user != os.getpid():
        raise StorageUnavailable(
            f"the object storage {shown} was used before this process was forked, so the process "
            "cannot use it.",
            code="forked",
        )


def _reason(error: Exception) -> str:
    """Return the reason in an error of obstore, which has several lines and Rust structures."""
    text = str(error)
    if any(address in text for address in _METADATA):
        return "no AWS credentials are set"
    for pattern in (r"<Message>([^<]+)</Message>", r'message: "([^"]+)"', r"<Code>([^<]+)</Code>"):
        if reason := re.search(pattern, text):
            return reason[1].strip().removesuffix(".")
    first = text.partition("\n")[0]
    return first.rpartition(" - ")[2].strip().removesuffix(".") or type(error).__name__


def from_url(url: str) -> ObjectStorage:
    """Return the object storage of a URL; do not connect.

    Raises:
        StorageUnavailable: the URL is not valid, or the Python package is missing.
    """
    scheme, separator, rest = url.partition("://")
    bucket, _, prefix = rest.partition("/")
    is_s3 = scheme == "s3" and _BUCKET.fullmatch(bucket) is not None
    if not separator or not (is_s3 or (scheme == "file" and rest.startswith("/"))):
        shown = f"***@{url.rpartition('@')[2]}" if "@" in url else url
        raise StorageUnavailable(
            f"{shown!r} is not the address of an object storage; write {_KNOWN}.",
            code="not-an-address",
        )
    try:
        from obstore.store import LocalStore, S3Store
    except ModuleNotFoundError:
        raise StorageUnavailable(
            "object storage needs the Python package obstore, which is not installed here; "
            "`pip install pokearena[s3]` brings it.",
            code="package-missing",
        ) from None
    if is_s3:
        endpoint = next(filter(None, map(os.environ.get, _ENDPOINTS)), "")
        store: ObjectStore = S3Store(
            bucket,
            prefix=prefix.strip("/") or None,
            client_options={
                "timeout": f"{_REQUEST_SECONDS}s",
                "connect_timeout": f"{_CONNECT_SECONDS}s",
                "allow_http": endpoint.startswith("http://"),
            },
            retry_config={
                "max_retries": _RETRIES,
                "retry_timeout": timedelta(seconds=_RETRY_SECONDS),
            },
        )
    else:
        try:
            private_files.create_folder(Path(rest))
        except OSError as error:
            raise StorageUnavailable(
                f"the folder {rest} of the object storage cannot be made: {error.strerror}.",
                code="no-folder",
            ) from None
        store = LocalStore(rest)
    return ObjectStorage(store, url.rstrip("/"))


def from_environment(environment: Mapping[str, str] = os.environ) -> ObjectStorage | None:
    """Return the object storage that the environment names; None if it names none.

    Raises:
        SettingError: the file of the setting cannot be read.
        StorageUnavailable: the setting is not valid.
    """
    named = config.setting(config.OBJECT_STORAGE, environment)
    return None if named is None else from_url(named[1])


_bound: Final[WeakKeyDictionary[Engine, ObjectStorage | None]] = WeakKeyDictionary()


def bind(engine: Engine, storage: ObjectStorage | None) -> None:
    """Set the object storage of a store in this process; by default the environment names it."""
    _bound[engine] = storage


def storage_of(engine: Engine) -> ObjectStorage | None:
    """Return the object storage of a store, if it has one.

    Raises:
        SettingError: the file of the setting cannot be read.
        StorageUnavailable: the setting is not valid.
    """
    if engine not in _bound:
        bind(engine, from_environment())
    return _bound[engine]


def needed(engine: Engine) -> ObjectStorage:
    """Return the object storage of a store, to which its rows refer.

    Raises:
        StorageUnavailable: no object storage is set, or the setting is not valid.
    """
    storage = storage_of(engine)
    if storage is None:
        raise StorageUnavailable(
            "this needs the object storage of the arena; set "
            f"{config.OBJECT_STORAGE[0]} to its address, for example s3://BUCKET/PREFIX.",
            code="not-configured",
        )
    return storage
