"""Test that a submission is accepted or refused with a sentence, also after interruptions."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from arena.bots.sandbox.level import Level
from arena.store.bots import submissions, versions
from arena.store.schema import SubmissionStage, SubmissionState
from arena.store.tournaments import lifecycle, tournaments
from arena.submissions import pipeline
from arena.submissions.conformance.check import Check, CheckOutcome
from tests.arena.submissions.desk import SubmissionHarness


@pytest.fixture
def desk(tmp_path: Path) -> SubmissionHarness:
    return SubmissionHarness(tmp_path)


def test_a_push_becomes_the_next_version_of_its_owner(desk: SubmissionHarness) -> None:
    first = desk.pushed(desk.bot())
    second = desk.pushed(desk.bot(text="import sys\n"))
    assert [(each.state, each.version) for each in (first, second)] == [
        (SubmissionState.ACCEPTED, "mybot@1"),
        (SubmissionState.ACCEPTED, "mybot@2"),
    ]
    version = versions.find(desk.engine, "mybot@2")
    assert (version.owner, version.content_hash) == ("ada", second.content_hash)
    assert (Path(version.folder) / "bot.py").read_text() == "import sys\n"
    assert "no ladder is open to it" in first.sentence
    assert [stage for stage, _ in first.steps][:2] == [
        SubmissionStage.CHECKING,
        SubmissionStage.BUILDING,
    ]
    assert first.steps[-1][0] is SubmissionStage.ENTERING
    assert list(desk.shelf.root.iterdir()) == []


def test_a_pushed_bot_runs_only_in_a_sandbox(desk: SubmissionHarness) -> None:
    assert desk.pushed(desk.bot()).version == "mybot@1"
    assert not desk.workspace.bot("mybot@1").trusted
    desk.level = Level.UNSANDBOXED
    sentence = refused(desk, desk.bot(text="import os\n"), 503)
    assert sentence.startswith("mybot came from somebody who is not trusted, and is not run")


def test_a_pushed_version_enters_the_open_ladders(desk: SubmissionHarness) -> None:
    there, closed = desk.ladder(open=True), desk.ladder()
    other = desk.ladder("saint_poker", open=True)
    over = desk.ladder(open=True)
    lifecycle.cancel(desk.engine, over.id)
    done = desk.pushed(desk.bot("mybot", 'games = ["poke"]'))
    assert done.ladders == (there.id,)
    assert done.sentence == f"mybot@1 is on the ladder poke ({there.id})."
    entries = tournaments.find(desk.engine, there.id).entries
    assert [(entry.name, entry.owner) for entry in entries][-1] == ("mybot@1", "ada")
    for ladder in (closed, other, over):
        assert "mybot@1" not in tournaments.find(desk.engine, ladder.id).entrants


def test_only_the_newest_versions_of_a_bot_play(desk: SubmissionHarness) -> None:
    ladder = desk.ladder(open=True, versions=2)
    for number in range(4):
        assert desk.pushed(desk.bot(text=f"pass  # {number}\n")).ladders == (ladder.id,)
    entries = tournaments.find(desk.engine, ladder.id).entries
    assert [entry.name for entry in entries if entry.withdrawn is None] == [
        *("greedy@1", "random@1"),
        *("mybot@3", "mybot@4"),
    ]


def test_a_version_above_the_limit_of_its_owner_is_refused(desk: SubmissionHarness) -> None:
    desk.office = replace(desk.office, most_active=2)
    desk.pushed(desk.bot())
    desk.pushed(desk.bot("second"))
    sentence = refused(desk, desk.bot("second", text="import os\n"), 409)
    assert "`pokearena bot retire second@1 --to URL`" in sentence
    assert desk.pushed(desk.bot("third"), owner="bob").version == "third@1"
    versions.retire(desk.engine, "mybot@1")
    assert desk.pushed(desk.bot("second", text="import os\n")).version == "second@2"


def refused(desk: SubmissionHarness, folder: Path, status: int, owner: str = "ada") -> str:
    """Check that the submission is refused and leaves no files; return the sentence."""
    submission = desk.pushed(folder, owner)
    assert (submission.state, submission.status, submission.version) == (
        SubmissionState.REFUSED,
        status,
        None,
    )
    assert submission.sentence.endswith((".", "!")) or submission.output
    assert str(desk.folder) not in submission.sentence + submission.output
    assert list(desk.shelf.root.iterdir()) == []
    return submission.sentence


def test_the_bot_name_of_another_owner_is_refused(desk: SubmissionHarness) -> None:
    desk.pushed(desk.bot())
    sentence = refused(desk, desk.bot(text="import os\n"), 403, owner="bob")
    assert sentence.startswith("the bot mybot belongs to ada; give yours another name")
    versions.add(desk.engine, "own", "1", "f" * 64, "/own", {})
    assert "is the organiser's" in refused(desk, desk.bot("own"), 403)
    assert "is a house bot's name" in refused(desk, desk.bot("strong"), 403)


def test_existing_content_and_versions_are_refused(desk: SubmissionHarness) -> None:
    desk.pushed(desk.bot())
    assert refused(desk, desk.bot(), 409) == "this content is here already, as mybot@1."
    versions.retire(desk.engine, "mybot@1")
    assert "as mybot@1, and is retired." in refused(desk, desk.bot(), 409)
    desk.pushed(desk.bot("mybot", "version = 7"))
    other = desk.bot("mybot", "version = 7", text="import os\n")
    assert "mybot@7 is here already with other content" in refused(desk, other, 409)


def test_an_upload_with_another_hash_is_refused(desk: SubmissionHarness) -> None:
    announced, other = desk.push(desk.bot()), desk.push(desk.bot(text="import os\n"))
    desk.shelf.parcel(other.id).rename(desk.shelf.parcel(announced.id))
    submission = desk.office.work(announced.id)
    assert submission.status == 422
    assert f"{announced.content_hash[:12]}… was announced" in submission.sentence


def test_an_upload_that_is_not_a_bot_is_refused(desk: SubmissionHarness) -> None:
    sent = desk.push(desk.bot())
    desk.shelf.parcel(sent.id).write_bytes(b"nonsense")
    submission = desk.office.work(sent.id)
    assert (submission.status, submission.stage) == (422, SubmissionStage.CHECKING)
    assert submission.sentence.startswith("this is not a complete tar.gz")
    sent = desk.push(desk.bot())
    desk.shelf.parcel(sent.id).unlink()
    missing = desk.office.work(sent.id)
    assert (missing.status, missing.stage) == (422, SubmissionStage.CHECKING)


def test_a_failed_build_shows_the_end_of_its_output(desk: SubmissionHarness) -> None:
    command = '["python", "-c", "print(1 / 0)"]'
    submission = desk.pushed(desk.bot("mybot", f"build = {command}"))
    assert (submission.state, submission.stage) == (
        SubmissionState.REFUSED,
        SubmissionStage.BUILDING,
    )
    assert "could not be built" in submission.sentence
    assert "\n" not in submission.sentence
    assert "ZeroDivisionError" in submission.output
    assert not any(desk.office.versions.iterdir())


def test_a_failed_submission_lists_its_failed_checks(desk: SubmissionHarness) -> None:
    good = Check("starts", CheckOutcome.PASSED, "0.2 s")
    bad = Check(
        "plays", CheckOutcome.FAILED, "it led what it does not hold.", "poke", output="Oh no\n"
    )
    desk.checks = [good, bad, replace(bad, game="pokex", output="")]
    submission = desk.pushed(desk.bot())
    assert (submission.state, submission.status, submission.stage) == (
        *(SubmissionState.REFUSED, 422),
        SubmissionStage.TESTING,
    )
    assert submission.sentence.startswith(
        "2 of 3 checks failed, the first: plays (poke): it led what it does not hold. `pokearena"
    )
    assert submission.output.splitlines() == [
        "plays (poke): it led what it does not hold.",
        "plays (pokex): it led what it does not hold.",
        "Oh no",
    ]
    assert not any(desk.office.versions.iterdir())
    desk.checks = [good]
    assert desk.pushed(desk.bot()).version == "mybot@1"


def test_an_interrupted_submission_is_resumed(
    desk: SubmissionHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder = desk.ladder(open=True)

    class Died(BaseException):
        pass

    def dies(*_: object, **__: object) -> None:
        raise Died

    sent = desk.push(desk.bot())

    def interrupted(where: str) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(where, dies)
            with pytest.raises(Died):
                desk.office.work(sent.id)

    for where in (
        "arena.bots.upload_archive.unpack",
        "arena.bots.version_store.admit",
        "arena.store.bots.versions.add",
    ):
        interrupted(where)
        assert submissions.find(desk.engine, sent.id).state is SubmissionState.RUNNING
        with desk.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE submissions SET attempts = 0")
    for where in ("arena.store.tournaments.lifecycle.add", "arena.store.bots.submissions.decide"):
        interrupted(where)
    done = desk.office.work(sent.id)
    assert (done.state, done.version, done.ladders) == (
        SubmissionState.ACCEPTED,
        "mybot@1",
        (ladder.id,),
    )
    assert tournaments.find(desk.engine, ladder.id).entrants[2:] == ("mybot@1",)
    assert len(versions.listing(desk.engine, name="mybot")) == 1


def test_a_repeatedly_interrupted_submission_fails(desk: SubmissionHarness) -> None:
    sent = desk.push(desk.bot())
    for _ in range(3):
        submissions.take_up(desk.engine, sent.id)
    submission = desk.office.work(sent.id)
    assert (submission.state, submission.status) == (SubmissionState.FAILED, 500)
    assert submission.sentence.startswith("the arena failed with it 3 times, or was interrupted")
    assert list(desk.shelf.root.iterdir()) == []


def test_a_failing_runner_retries_and_then_gives_up(
    desk: SubmissionHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("arena.bots.upload_archive.unpack", full)
    monkeypatch.setattr(pipeline, "_TROUBLE_SECONDS", 0.0)
    sent = desk.push(desk.bot())
    rounds = iter([True, True, True, False])
    pipeline.run(desk.office, lambda: next(rounds))
    submission = submissions.find(desk.engine, sent.id)
    assert (submission.state, submission.attempts) == (SubmissionState.FAILED, 3)


def test_a_single_runner_works_on_the_oldest_submission_first(desk: SubmissionHarness) -> None:
    sent = [desk.push(desk.bot(f"bot{number}")) for number in range(3)]
    assert not desk.shelf.is_attended
    seen = []

    def goes_on() -> bool:
        seen.append(desk.shelf.is_attended)
        return len(seen) == 1

    pipeline.run(desk.office, goes_on)
    assert seen == [True, True]
    assert not desk.shelf.is_attended
    done = [submissions.find(desk.engine, each.id) for each in sent]
    assert all(each.state is SubmissionState.ACCEPTED for each in done)
    assert [each.ended for each in done] == sorted(each.ended or 0 for each in done)


def test_leftovers_of_killed_processes_are_removed_later(desk: SubmissionHarness) -> None:
    sent = desk.push(desk.bot())
    for name in (".s-old.part", "s-old.tar.gz", ".s-new.part"):
        (desk.shelf.root / name).write_text("x")
    for path in desk.shelf.root.iterdir():
        if path.name != ".s-new.part":
            os.utime(path, (0, 0))
    desk.shelf.tidy({sent.id})
    assert {path.name for path in desk.shelf.root.iterdir()} == {
        ".s-new.part",
        f"{sent.id}.tar.gz",
    }
