"""Test that malicious archives are refused with one sentence, and that no file remains."""

import gzip
import hashlib
import io
import os
import random
import re
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from arena.bots import resolver, version_store
from arena.store.bots import owners, submissions, versions
from arena.store.schema import SubmissionState
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.submissions.submission_harness import SubmissionHarness

MOST_MEMORY = 24 << 20
"""Maximum number of bytes allocated while an archive is refused."""
MANIFEST = b'name = "mybot"\nrun = ["python", "bot.py"]\n'
NOISE = random.Random(7).randbytes(400_000)
"""Incompressible bytes, so that the limit on the compression ratio is not reached first."""
Member = tuple[tarfile.TarInfo, bytes]


def member(name: str, data: bytes = b"x", **header: Any) -> Member:
    made = tarfile.TarInfo(name)
    made.size = len(data)
    for field, value in header.items():
        setattr(made, field, value)
    return made, data


def tar(*members: Member, form: int = tarfile.PAX_FORMAT, encoding: str = "utf-8") -> bytes:
    """Return the bytes of an uncompressed tar with a bot's files and then these members."""
    files = (member("bot.toml", MANIFEST), member("bot.py", b"pass\n"))
    output = io.BytesIO()
    with tarfile.open(
        fileobj=output, mode="w", format=form, encoding=encoding, errors="surrogateescape"
    ) as made:
        for header, data in (*files, *members):
            made.addfile(header, io.BytesIO(data))
    return output.getvalue()


def packed(*members: Member, **how: Any) -> bytes:
    """Return the tar.gz of a bot's files and these members."""
    return gzip.compress(tar(*members, **how), 1)


def raw(name: str, kind: bytes, data: bytes = b"", size: int | None = None) -> bytes:
    """Return one header block of any type, and its data."""
    header = tarfile.TarInfo(name)
    header.type, header.size = kind, len(data) if size is None else size
    return header.tobuf(tarfile.GNU_FORMAT) + data + bytes(-len(data) % tarfile.BLOCKSIZE)


def begun(*blocks: bytes) -> bytes:
    """Return a tar.gz of these blocks, after a file of random bytes."""
    return gzip.compress(raw("noise", tarfile.REGTYPE, NOISE) + b"".join(blocks) + bytes(1024), 1)


def old_sparse(real: int) -> bytes:
    """Return a header of GNU's old sparse format: a file of `real` bytes that stores one byte."""
    block = bytearray(raw("hole", tarfile.GNUTYPE_SPARSE, b"x"))
    block[386:410] = b"%011o\0%011o\0" % (real - 1, 1)
    block[483:495] = b"%011o\0" % real
    block[148:156] = b"        "
    block[148:156] = b"%06o\0 " % sum(block[:512])
    return begun(bytes(block))


def zipped(size: int | None = None) -> bytes:
    """Return a zip; directory and header may contain a false file size."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("bot.toml", MANIFEST)
    data = output.getvalue()
    if size is not None:
        data = data.replace(len(MANIFEST).to_bytes(4, "little"), size.to_bytes(4, "little"))
    return data


def pax(**headers: str) -> bytes:
    """Return an archive with an extended header that contains these values."""
    return packed(member("odd", pax_headers={k.replace("__", "."): v for k, v in headers.items()}))


def globals_of(count: int) -> bytes:
    """Return an archive with many values in the headers for all members."""
    output = io.BytesIO()
    headers = {f"k{number}": "v" for number in range(count)}
    with tarfile.open(fileobj=output, mode="w", pax_headers=headers) as made:
        made.addfile(tarfile.TarInfo("a"))
    return gzip.compress(output.getvalue(), 1)


OUTSIDE = "is not a path within the bot's folder"
LINK, DEVICE, SPARSE = "is a link", "is a device or a pipe", "of an unknown type"
BROKEN = r"this is not a complete tar\.gz"
SAME = "differ only by case or Unicode form"
HEADERS = "KiB of headers"
SYM, HARD = tarfile.SYMTYPE, tarfile.LNKTYPE

ARCHIVES: dict[str, tuple[Callable[[], bytes], str]] = {
    "parent": (lambda: packed(member("../escaped")), OUTSIDE),
    "parent within": (lambda: packed(member("a/../../escaped")), OUTSIDE),
    "parent folder": (lambda: packed(member("../d", b"", type=tarfile.DIRTYPE)), OUTSIDE),
    "absolute": (lambda: packed(member("/tmp/pokearena-escaped")), OUTSIDE),
    "absolute by pax": (lambda: pax(path="/tmp/pokearena-escaped"), OUTSIDE),
    "parent by pax": (lambda: pax(path="../../escaped"), OUTSIDE),
    "zero byte": (lambda: pax(path="a\0b"), OUTSIDE),
    "hard link outside": (
        lambda: packed(member("l", b"", type=HARD, linkname="/etc/passwd")),
        LINK,
    ),
    "hard link within": (lambda: packed(member("l", b"", type=HARD, linkname="bot.py")), LINK),
    "symbolic link": (lambda: packed(member("l", b"", type=SYM, linkname="/etc")), LINK),
    "through a link": (
        lambda: packed(member("l", b"", type=SYM, linkname=".."), member("l/escaped")),
        LINK,
    ),
    "character device": (
        lambda: packed(member("d", b"", type=tarfile.CHRTYPE, devmajor=1, devminor=3)),
        DEVICE,
    ),
    "block device": (lambda: packed(member("d", b"", type=tarfile.BLKTYPE)), DEVICE),
    "fifo": (lambda: packed(member("p", b"", type=tarfile.FIFOTYPE)), DEVICE),
    "unknown kind": (lambda: begun(raw("odd", b"Z", b"x")), SPARSE),
    "sparse": (lambda: old_sparse(8 << 30), SPARSE),
    "sparse by pax 0.0": (lambda: pax(GNU__sparse__size="9" * 12, GNU__sparse__map="0,1"), SPARSE),
    "sparse by pax 1.0": (lambda: begun(*sparse_10(b"1\n0\n1\n")), SPARSE),
    "endless holes": (lambda: begun(*sparse_10(b"9999999\n" + b"0\n" * (1 << 20))), HEADERS),
    "endless number": (
        lambda: begun(*sparse_10(b"1\n" + b"1" * (1 << 20))),
        "a header is not valid",
    ),
    "size too large": (lambda: pax(size="99999999999999"), "larger than 100 MiB"),
    "negative size": (lambda: pax(size="-5"), "larger than 100 MiB"),
    "duplicate": (lambda: packed(member("a"), member("a", b"y")), "in the upload twice"),
    "second manifest": (lambda: packed(member("bot.toml", MANIFEST)), "in the upload twice"),
    "file and folder": (lambda: packed(member("a"), member("a/b")), "is a folder too"),
    "case": (lambda: packed(member("Readme"), member("README")), SAME),
    "case of a folder": (lambda: packed(member("A/x"), member("a/y")), SAME),
    "Unicode form": (lambda: packed(member("\u00e9"), member("e\u0301")), SAME),
    "square MHz": (lambda: packed(member("\u3392"), member("mhz")), SAME),
    "sharp s": (lambda: packed(member("stra\u00dfe"), member("STRASSE")), SAME),
    "not UTF-8": (
        lambda: packed(member("a\udcff\udcfe"), form=tarfile.GNU_FORMAT),
        "not UTF-8",
    ),
    "bidirectional": (
        lambda: packed(member("cod\u202eyp.exe")),
        r'"cod\\u202eyp\.exe" .*' + OUTSIDE,
    ),
    "zero width": (lambda: packed(member("bot\u200b.py")), r'"bot\\u200b\.py" .*' + OUTSIDE),
    "Hangul filler": (lambda: packed(member("bot\u3164.py")), r'"bot\\u3164\.py" .*' + OUTSIDE),
    "escapes": (lambda: packed(member("\x1b[2Ja\nb")), r'"\\x1b\[2Ja\\nb" .*' + OUTSIDE),
    "long part": (lambda: packed(member("x" * 256)), OUTSIDE),
    "long path": (lambda: packed(member("/".join(["y" * 200] * 6))), OUTSIDE),
    "very long path": (lambda: packed(member("z" * 200_000)), "a header of more than 64 KiB"),
    "65 folders": (lambda: packed(member("/".join("d" * 65) + "/x")), OUTSIDE),
    "5000 folders": (
        lambda: packed(*(member(f"{n}/" + "/".join("abcdefghij"), b"") for n in range(600))),
        "at most 5000 of each",
    ),
    "gzip bomb": (lambda: packed(member("a", bytes(60 << 20))), "exceed 200 times the packed size"),
    "gzip in gzip": (lambda: gzip.compress(packed()), BROKEN),
    "slow bomb": (
        lambda: packed(member("noise", NOISE * 3), member("a", bytes(110 << 20))),
        "larger than 100 MiB",
    ),
    "zip": (zipped, BROKEN),
    "zip with lying sizes": (lambda: zipped(0xFFFFFFF0), BROKEN),
    "garbage behind gzip": (lambda: packed() + b"garbage", BROKEN),
    "garbage behind tar": (lambda: gzip.compress(tar() + b"garbage"), "data after its end"),
    "second archive": (lambda: gzip.compress(tar() + tar()), "data after its end"),
    "second gzip member": (lambda: packed() + packed(), "data after its end"),
    "25,000 entries": (
        lambda: begun(*(raw(f"{n}/", tarfile.DIRTYPE) for n in range(25_000))),
        "more than 20000 entries",
    ),
    "25,000 files": (
        lambda: begun(*(raw(f"{n}", tarfile.REGTYPE) for n in range(25_000))),
        "at most 5000 of each",
    ),
    "chain of long names": (
        lambda: begun(raw("l", tarfile.GNUTYPE_LONGNAME, b"n\0") * 1200, raw("a", b"0")),
        HEADERS,
    ),
    "chain of pax headers": (
        lambda: begun(raw("x", tarfile.XHDTYPE, b"8 a=bcd\n") * 1200, raw("a", b"0")),
        HEADERS,
    ),
    "large pax header": (lambda: pax(comment="c" * 100_000), "a header of more than 64 KiB"),
    "many values for all": (lambda: globals_of(2000), "more than 100 values for all entries"),
    "truncated gzip": (lambda: packed(member("noise", NOISE))[:-2000], BROKEN),
    "truncated checksum": (lambda: packed()[:-3], BROKEN),
    "truncated in a file": (lambda: gzip.compress(tar(member("n", NOISE))[:100_000]), BROKEN),
    "truncated in a header": (lambda: gzip.compress(tar()[:1700]), BROKEN),
    "without an end": (lambda: gzip.compress(tar()[:2048]), BROKEN),
    "broken header": (lambda: gzip.compress(tar()[:2048] + b"\xff" * 512 + bytes(1024)), BROKEN),
    "empty": (lambda: gzip.compress(b""), BROKEN),
    "setuid": (lambda: packed(member("s", mode=0o4755)), "setuid or setgid bit"),
    "setgid": (lambda: packed(member("s", mode=0o2755)), "setuid or setgid bit"),
}
"""By name: the archive, and a pattern that the sentence of the refusal must match."""


def sparse_10(data: bytes) -> tuple[bytes, bytes]:
    """Return a pax header of GNU's sparse format 1.0, and a member that begins with its holes."""
    records = b""
    for key, value in (("major", "1"), ("minor", "0"), ("realsize", "9"), ("name", "hole")):
        record = f" GNU.sparse.{key}={value}\n".encode()
        records += b"%d%s" % (len(record) + 2, record)
    return raw("x", tarfile.XHDTYPE, records), raw("hole", tarfile.REGTYPE, data)


class UploadArena:
    """Run the web server's upload page and the submission pipeline."""

    def __init__(self, folder: Path) -> None:
        self.harness = SubmissionHarness(folder)
        self.token = owners.add_owner(self.harness.engine, "ada")
        settings = ServerSettings(
            rate=0, pending_uploads=self.harness.pending_uploads, push_mib=8, pushes=100
        )
        self.client = TestClient(create(WebState(self.harness.engine, settings)))

    def push(self, data: bytes, content: str) -> dict[str, Any]:
        """Upload an archive, process it, and return the submission as its owner sees it."""
        query = urlencode({"name": "mybot", "content": content, "version": ""})
        sign = {"Authorization": f"Bearer {self.token}"}
        sent = self.client.post(f"/submissions?{query}", headers=sign, content=data)
        assert sent.status_code == 201, sent.text
        name = sent.json()["submission"]
        self.harness.pipeline.work(name)
        shown: dict[str, Any] = self.client.get(f"/submissions/{name}.json", headers=sign).json()
        return shown

    def files(self) -> set[str]:
        """Return all paths that an archive can have left in the arena's folder or beside it."""
        root = self.harness.folder
        return {
            str(path.relative_to(root))
            for path in root.rglob("*")
            if not path.name.startswith("pokearena.db")
        }


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UploadArena]:
    """One arena for all archives, so that one that leaves something is noticed later, too."""
    arena = UploadArena(tmp_path_factory.mktemp("arena") / "a" / "b")
    with arena.client, arena.harness.pending_uploads.create().attended():
        yield arena


# One of each kind. The quick suite reads the others without a server (bots/test_upload_archive.py).
QUICK = (
    *("parent", "sparse", "case", "very long path", "gzip bomb", "second archive"),
    *("chain of long names", "setuid"),
)


@pytest.mark.parametrize(
    "name",
    [
        *QUICK,
        *(
            pytest.param(name, marks=[pytest.mark.long, pytest.mark.repetition])
            for name in ARCHIVES
            if name not in QUICK
        ),
    ],
)
def test_a_malicious_archive_is_refused(arena: UploadArena, name: str) -> None:
    make, pattern = ARCHIVES[name]
    data = make()
    outside = arena.harness.folder.parents[1]
    before, around = arena.files(), sorted(os.listdir(outside))
    tracemalloc.start()
    try:
        refused = arena.push(data, hashlib.sha256(name.encode()).hexdigest())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (refused["state"], refused["status"]) == (SubmissionState.REFUSED, 422), refused
    sentence = refused["sentence"]
    assert re.search(pattern, sentence), sentence
    assert sentence.isprintable()
    assert sentence.endswith(".")
    assert len(sentence) < 400
    assert arena.files() == before
    assert sorted(os.listdir(outside)) == around
    assert not Path("/tmp/pokearena-escaped").exists()
    assert peak < MOST_MEMORY + len(data), f"{peak:,} bytes"
    assert versions.list_versions(arena.harness.engine) == ()
    assert submissions.undecided(arena.harness.engine) == ()
    assert sorted(path.name for path in arena.harness.pending_uploads.root.iterdir()) == ["lock"]


@pytest.mark.parametrize("name", ["very long path", "truncated gzip"])
def test_an_honest_archive_is_accepted_after_a_malicious_one(name: str, tmp_path: Path) -> None:
    arena = UploadArena(tmp_path / "a" / "b")
    with arena.client, arena.harness.pending_uploads.create().attended():
        refused = arena.push(ARCHIVES[name][0](), "5" * 64)
        assert refused["state"] == SubmissionState.REFUSED
        content = version_store.content_hash(resolver.from_folder(arena.harness.bot()))
        taken = arena.push(packed(), content)
        assert (taken["state"], taken["version"]) == (SubmissionState.ACCEPTED, "mybot@1"), taken
        assert submissions.undecided(arena.harness.engine) == ()
        assert sorted(path.name for path in arena.harness.pending_uploads.root.iterdir()) == [
            "lock"
        ]
