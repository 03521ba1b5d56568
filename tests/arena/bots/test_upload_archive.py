"""Test that uploads arrive unchanged, and that invalid archives are refused."""

import gzip
import io
import random
import tarfile
from pathlib import Path
from typing import Any

import pytest

from arena.bots import resolver, upload_archive
from arena.bots.version_store import content_hash
from arena.errors import BotError
from tests.errors import has_code

Member = tuple[tarfile.TarInfo, bytes]


def member(name: str, data: bytes = b"", **fields: Any) -> Member:
    made = tarfile.TarInfo(name)
    for what, value in {"size": len(data), **fields}.items():
        setattr(made, what, value)
    return made, data


def packed(*members: Member, form: int = tarfile.PAX_FORMAT) -> bytes:
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w:gz", format=form) as tar:
        for header, data in members:
            tar.addfile(header, io.BytesIO(data))
    return output.getvalue()


class Unpacking:
    """Unpack archives into a folder; the folders beside it must not change."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self.inside = folder / "inside"
        self.inside.mkdir()

    def of(self, data: bytes) -> upload_archive.Contents:
        (self.root / "parcel").write_bytes(data)
        return upload_archive.unpack(self.root / "parcel", self.inside)

    @property
    def files(self) -> dict[str, str]:
        files = sorted(path for path in self.inside.rglob("*") if path.is_file())
        return {str(path.relative_to(self.inside)): path.read_text() for path in files}


@pytest.fixture
def unpacking(tmp_path: Path) -> Unpacking:
    return Unpacking(tmp_path)


def test_packing_and_unpacking_preserves_the_content_hash(unpacking: Unpacking) -> None:
    bot = resolver.resolve("sample:greedy")
    first, second = io.BytesIO(), io.BytesIO()
    contents = upload_archive.pack(bot, first)
    upload_archive.pack(bot, second)
    assert first.getvalue() == second.getvalue()
    assert unpacking.of(first.getvalue()) == contents
    assert content_hash(resolver.from_folder(unpacking.inside)) == content_hash(bot)


def test_only_the_executable_bit_of_file_modes_is_preserved(unpacking: Unpacking) -> None:
    unpacking.of(packed(member("run", b"x", mode=0o1777), member("read", b"x", mode=0o000)))
    modes = {path.name: path.stat().st_mode & 0o7777 for path in unpacking.inside.iterdir()}
    assert modes == {"run": 0o755, "read": 0o644}


REFUSED_NAMES = {
    "device-name": (
        *("CON", "prn", "Aux.txt", "nul.tar.gz", "com1", "LPT9.py", "COM\u00b9", "lpt\u00b3.c"),
        *("con .txt", "CONIN$", "conout$.log"),
    ),
    "trailing-character": ("bot.", "bot ", "a.py...", "CON."),
    "reserved-character": ("a<b", "a>b", "a:b", 'a"b', "a|b", "a?b", "a*b", "a\\b", "..\\..\\x"),
}
NAMES = [(code, name) for code, names in REFUSED_NAMES.items() for name in names]


@pytest.mark.parametrize(("code", "name"), NAMES)
@pytest.mark.parametrize("place", ["{}", "{}/file", "folder/{}"])
def test_names_that_windows_treats_specially_are_refused(
    unpacking: Unpacking, code: str, name: str, place: str
) -> None:
    path = place.format(name)
    with pytest.raises(BotError, check=has_code(code)):
        unpacking.of(packed(member(path, b"x")))
    assert unpacking.files == {}
    (unpacking.inside / path).parent.mkdir(parents=True, exist_ok=True)
    (unpacking.inside / path).write_text("x")
    (unpacking.inside / "bot.toml").write_text('name = "mybot"\nrun = ["python", "bot.py"]\n')
    bot = resolver.from_folder(unpacking.inside)
    with pytest.raises(BotError, check=has_code(code)):
        upload_archive.pack(bot, io.BytesIO())
    # A folder that is not pushed may have such names.
    assert content_hash(bot)


@pytest.mark.parametrize(
    "name", ["console", "com", "com10", "lpt", "nullable", "auxiliary.py", ".con", "my.con", "COM0"]
)
def test_names_that_only_look_like_devices_are_accepted(unpacking: Unpacking, name: str) -> None:
    unpacking.of(packed(member(name, b"x")))
    assert unpacking.files == {name: "x"}


def test_hidden_characters_in_a_name_are_reported_before_the_upload(unpacking: Unpacking) -> None:
    (unpacking.inside / "bot.toml").write_text('name = "mybot"\nrun = ["python", "bot.py"]\n')
    (unpacking.inside / "a\nb").write_text("x")
    with pytest.raises(BotError, check=has_code("hidden-name")):
        upload_archive.pack(resolver.from_folder(unpacking.inside), io.BytesIO())


def test_archives_of_other_tar_programs_are_accepted(unpacking: Unpacking) -> None:
    folder = {"type": tarfile.DIRTYPE}
    there = [member(".", **folder), member("./a", **folder), member("./a/bé", b"x")]
    unpacking.of(packed(*there, form=tarfile.GNU_FORMAT))
    assert unpacking.files == {"a/bé": "x"}


@pytest.mark.parametrize(
    "name",
    [
        *("/etc/passwd", "../x", "a/../../x", "a//b", "a/./b", "..", ".", "", "a\nb", "a\x1b[2Jb"),
        *("x" * 300, "/".join("a" * 60), "a" * 200 + "/" + "/".join(["b" * 200] * 6)),
    ],
)
def test_no_file_is_written_outside_the_folder(unpacking: Unpacking, name: str) -> None:
    with pytest.raises(BotError, check=has_code("unsafe-path")):
        unpacking.of(packed(member(name, b"x")))
    assert unpacking.files == {}
    assert sorted(path.name for path in unpacking.root.iterdir()) == ["inside", "parcel"]


@pytest.mark.parametrize(
    ("code", "members"),
    [
        *(
            ("unsafe-path", [member("a", b"x", pax_headers={"path": path})])
            for path in ("../../x", "/x", "a\0b")
        ),
        *(
            (code, [member("first", b"x"), member("a", type=kind, linkname="/etc/passwd")])
            for code, kind in (
                ("link", tarfile.SYMTYPE),
                ("link", tarfile.LNKTYPE),
                ("device", tarfile.CHRTYPE),
                ("device", tarfile.BLKTYPE),
                ("device", tarfile.FIFOTYPE),
                ("unknown-type", tarfile.CONTTYPE),
                ("unknown-type", tarfile.GNUTYPE_SPARSE),
            )
        ),
        ("path-taken", [member("a", b"x"), member("a", b"y")]),
        ("path-taken", [member("a"), member("a/b")]),
        ("path-taken", [member("a/b"), member("a")]),
        ("too-large", [member("a", b"x", pax_headers={"size": "99999999999999"})]),
        ("too-large", [member("a", b"x", pax_headers={"size": "-5"})]),
        ("header-too-large", [member("a", b"x", pax_headers={"comment": "x" * 199_998})]),
    ],
)
def test_only_regular_files_with_different_paths_are_accepted(
    unpacking: Unpacking, code: str, members: list[Member]
) -> None:
    with pytest.raises(BotError, check=has_code(code)):
        unpacking.of(packed(*members))
    assert unpacking.files == {header.name: data.decode() for header, data in members[:-1]}


def test_a_decompression_bomb_is_stopped_by_its_ratio(unpacking: Unpacking) -> None:
    with pytest.raises(BotError, check=has_code("compression-ratio")):
        unpacking.of(packed(member("a", bytes(30 * 2**20))))
    written = sum(path.stat().st_size for path in unpacking.inside.iterdir())
    assert written < 10 * 2**20


@pytest.mark.long
def test_the_number_of_files_and_folders_is_limited(
    unpacking: Unpacking, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = "/".join("abcdefghij")
    with pytest.raises(BotError, check=has_code("too-many-files")):
        unpacking.of(packed(*(member(f"{number}/{deep}", b"") for number in range(600))))
    monkeypatch.setattr(upload_archive, "_MOST_MEMBERS", 200)
    with pytest.raises(BotError, check=has_code("too-many-entries")):
        unpacking.of(packed(*(member(f"{n}", type=tarfile.DIRTYPE) for n in range(201))))


WHOLE = packed(member("a", random.Random(1).randbytes(2000)))


@pytest.mark.parametrize(
    "data",
    [
        *(b"hello world", b"PK\x03\x04" + bytes(100), b"\x1f\x8b\x08" + bytes(7) + b"\xff" * 90),
        *(gzip.compress(b"hello" * 1000), gzip.compress(b"\xff" * 512)),
        *(packed(member("a", b"x")) + b"more", WHOLE[:-8] + bytes([WHOLE[-8] ^ 1]) + WHOLE[-7:]),
        *(WHOLE[:cut] for cut in (0, 1, 9, 10, 500, -1, -4, -9)),
    ],
    # Numbers, because packed data contains the time and all pytest workers need the same test ids.
    ids=range(15),
)
def test_data_that_is_not_tar_gz_is_refused(unpacking: Unpacking, data: bytes) -> None:
    with pytest.raises(BotError, check=has_code("invalid-archive")):
        unpacking.of(data)


def test_an_invalid_header_is_refused(unpacking: Unpacking) -> None:
    raw = bytearray(gzip.decompress(packed(member("a", b"x"))))
    raw[124:136] = b"\xff" * 12
    raw[148:156] = b"%06o\0 " % (sum(raw[:148]) + 8 * 32 + sum(raw[156:512]))
    with pytest.raises(BotError):
        unpacking.of(gzip.compress(bytes(raw)))


def test_random_corruption_is_refused_or_yields_regular_files(tmp_path: Path) -> None:
    """Random bytes of a valid archive are changed, before or after compression."""
    chance = random.Random(7)
    raw = gzip.decompress(packed(member("a/b", b"x" * 700), member("ü" * 120, b"y")))
    refused = 0
    for number in range(300):
        changed = bytearray(raw)
        for _ in range(chance.randint(1, 6)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            Unpacking(folder).of(gzip.compress(bytes(changed), 1))
        except BotError:
            refused += 1
        assert sorted(path.name for path in folder.iterdir()) == ["inside", "parcel"]
        assert not any(path.is_symlink() for path in folder.rglob("*"))
    assert refused > 50
