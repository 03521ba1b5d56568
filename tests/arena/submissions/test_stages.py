"""Test that a submission is accepted or refused with a sentence, also after interruptions."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from arena.bots.sandbox.level import Level
from arena.errors import Conflict, InfrastructureError
from arena.store.bots import submissions, versions
from arena.store.bots.model_grants import Grantee, grant_model
from arena.store.schema import Approval, SubmissionStage, SubmissionState
from arena.store.tournaments import lifecycle, tournaments
from arena.submissions import runner
from arena.submissions.conformance.check import Check, CheckOutcome
from arena.submissions.pipeline import MOST_ATTEMPTS
from tests.arena.submissions.submission_harness import SubmissionHarness
from tests.errors import has_code


@pytest.fixture
def harness(tmp_path: Path) -> SubmissionHarness:
    return SubmissionHarness(tmp_path)


def test_a_push_becomes_the_next_version_of_its_owner(harness: SubmissionHarness) -> None:
    first = harness.pushed(harness.bot())
    second = harness.pushed(harness.bot(text="import sys\n"))
    assert [(each.state, each.version) for each in (first, second)] == [
        (SubmissionState.ACCEPTED, "mybot@1"),
        (SubmissionState.ACCEPTED, "mybot@2"),
    ]
    version = versions.find_version(harness.engine, "mybot@2")
    assert (version.owner, version.content_hash) == ("ada", second.content_hash)
    assert (Path(version.folder) / "bot.py").read_text() == "import sys\n"
    assert "no ladder is open to it" in first.sentence
    assert [stage for stage, _ in first.steps][:2] == [
        SubmissionStage.CHECKING,
        SubmissionStage.BUILDING,
    ]
    assert first.steps[-1][0] is SubmissionStage.ENTERING
    assert list(harness.pending_uploads.root.iterdir()) == []


def test_a_pushed_bot_runs_only_in_a_sandbox(harness: SubmissionHarness) -> None:
    assert harness.pushed(harness.bot()).version == "mybot@1"
    assert not harness.workspace.bot("mybot@1").trusted
    harness.level = Level.UNSANDBOXED
    sentence = refused(harness, harness.bot(text="import os\n"), 503)
    assert sentence.startswith("mybot came from somebody who is not trusted, and is not run")


def test_a_level_that_was_not_chosen_refuses_pushed_bots(
    harness: SubmissionHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.level = Level.LANDLOCK
    monkeypatch.delenv("POKEARENA_SANDBOX", raising=False)
    sentence = refused(harness, harness.bot(), 503)
    assert "does not keep the tables of a match apart" in sentence
    monkeypatch.setenv("POKEARENA_SANDBOX", "landlock")
    assert harness.pushed(harness.bot()).version == "mybot@1"


def test_submissions_wait_while_the_sandbox_is_not_available(
    harness: SubmissionHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_TROUBLE_SECONDS", 0.01)
    asked: list[str] = []

    def lost() -> Level:
        asked.append("level")
        raise InfrastructureError("it is gone.", code="level-gone")

    waiting = harness.push(harness.bot())
    without = replace(harness.pipeline, level=lost)
    runner.run(without, lambda: len(asked) < 2 * MOST_ATTEMPTS)
    assert submissions.find_submission(harness.engine, waiting.id).attempts == 0
    runner.run(harness.pipeline, lambda: not harness.all_decided)
    assert submissions.find_submission(harness.engine, waiting.id).state is SubmissionState.ACCEPTED


def test_a_pushed_version_enters_the_open_ladders(harness: SubmissionHarness) -> None:
    there, closed = harness.ladder(open=True), harness.ladder()
    other = harness.ladder("saint_poker", open=True)
    over = harness.ladder(open=True)
    lifecycle.cancel(harness.engine, over.id)
    done = harness.pushed(harness.bot("mybot", 'games = ["poke"]'))
    assert done.ladders == (there.id,)
    assert done.sentence == f"mybot@1 is on the ladder poke ({there.id})."
    entries = tournaments.find_tournament(harness.engine, there.id).entries
    assert [(entry.name, entry.owner) for entry in entries][-1] == ("mybot@1", "ada")
    for ladder in (closed, other, over):
        assert "mybot@1" not in tournaments.find_tournament(harness.engine, ladder.id).entrants


def test_only_the_newest_versions_of_a_bot_play(harness: SubmissionHarness) -> None:
    ladder = harness.ladder(open=True, versions=2)
    for number in range(4):
        assert harness.pushed(harness.bot(text=f"pass  # {number}\n")).ladders == (ladder.id,)
    entries = tournaments.find_tournament(harness.engine, ladder.id).entries
    assert [entry.name for entry in entries if entry.withdrawn is None] == [
        *("greedy@1", "random@1"),
        *("mybot@3", "mybot@4"),
    ]


def test_a_version_above_the_limit_of_its_owner_is_refused(harness: SubmissionHarness) -> None:
    harness.pipeline = replace(harness.pipeline, most_active=2)
    harness.pushed(harness.bot())
    harness.pushed(harness.bot("second"))
    sentence = refused(harness, harness.bot("second", text="import os\n"), 409)
    assert "`pokearena bot retire second@1 --to URL`" in sentence
    assert harness.pushed(harness.bot("third"), owner="bob").version == "third@1"
    versions.retire(harness.engine, "mybot@1")
    assert harness.pushed(harness.bot("second", text="import os\n")).version == "second@2"


def refused(harness: SubmissionHarness, folder: Path, status: int, owner: str = "ada") -> str:
    """Check that the submission is refused and leaves no files; return the sentence."""
    submission = harness.pushed(folder, owner)
    assert (submission.state, submission.status, submission.version) == (
        SubmissionState.REFUSED,
        status,
        None,
    )
    assert submission.sentence.endswith((".", "!")) or submission.output
    assert str(harness.folder) not in submission.sentence + submission.output
    assert list(harness.pending_uploads.root.iterdir()) == []
    return submission.sentence


def test_the_bot_name_of_another_owner_is_refused(harness: SubmissionHarness) -> None:
    harness.pushed(harness.bot())
    sentence = refused(harness, harness.bot(text="import os\n"), 403, owner="bob")
    assert sentence.startswith("the bot mybot belongs to ada; give yours another name")
    versions.add_version(harness.engine, "own", "1", "f" * 64, "/own", {})
    assert "is the organiser's" in refused(harness, harness.bot("own"), 403)
    assert "is a house bot's name" in refused(harness, harness.bot("strong"), 403)


def test_existing_content_and_versions_are_refused(harness: SubmissionHarness) -> None:
    harness.pushed(harness.bot())
    assert refused(harness, harness.bot(), 409) == "this content is here already, as mybot@1."
    versions.retire(harness.engine, "mybot@1")
    assert "as mybot@1, and is retired." in refused(harness, harness.bot(), 409)
    harness.pushed(harness.bot("mybot", "version = 7"))
    other = harness.bot("mybot", "version = 7", text="import os\n")
    assert "mybot@7 is here already with other content" in refused(harness, other, 409)


def test_an_upload_with_another_hash_is_refused(harness: SubmissionHarness) -> None:
    announced, other = harness.push(harness.bot()), harness.push(harness.bot(text="import os\n"))
    harness.pending_uploads.archive(other.id).rename(harness.pending_uploads.archive(announced.id))
    submission = harness.pipeline.work(announced.id)
    assert submission.status == 422
    assert f"{announced.content_hash[:12]}… was announced" in submission.sentence


def test_a_tested_bot_waits_for_the_organiser(harness: SubmissionHarness) -> None:
    ladder = harness.ladder(open=True)
    harness.pipeline = replace(harness.pipeline, needs_approval=True)
    waiting = harness.pushed(harness.bot("mybot", 'games = ["poke"]'))
    assert (waiting.state, waiting.stage, waiting.approval) == (
        SubmissionState.WAITING,
        SubmissionStage.APPROVING,
        Approval.WAITING,
    )
    assert submissions.awaiting_approval(harness.engine) == (waiting,)
    assert harness.pipeline.work(waiting.id) == waiting
    assert harness.push(harness.folder / "mybot").id == waiting.id
    submissions.approve(harness.engine, waiting.id, approved=True, reason="it plays well")
    harness.checks = [Check("starts", CheckOutcome.FAILED, "It is not tested again.")]
    accepted = harness.pipeline.work(waiting.id)
    assert (accepted.state, accepted.ladders) == (SubmissionState.ACCEPTED, (ladder.id,))
    with pytest.raises(Conflict, check=has_code("not-waiting")):
        submissions.approve(harness.engine, waiting.id, approved=False, reason="late")


def test_a_bot_that_the_organiser_refuses_leaves_no_files(harness: SubmissionHarness) -> None:
    harness.pipeline = replace(harness.pipeline, needs_approval=True)
    waiting = harness.pushed(harness.bot())
    assert any(harness.pipeline.versions.iterdir())
    submissions.approve(harness.engine, waiting.id, approved=False, reason="it is a copy")
    refused_one = harness.pipeline.work(waiting.id)
    assert (refused_one.state, refused_one.status) == (SubmissionState.REFUSED, 403)
    assert refused_one.sentence == "the organiser refused it: it is a copy."
    assert not any(harness.pipeline.versions.iterdir())
    assert list(harness.pending_uploads.root.iterdir()) == []


def test_an_upload_that_is_not_a_bot_is_refused(harness: SubmissionHarness) -> None:
    sent = harness.push(harness.bot())
    harness.pending_uploads.archive(sent.id).write_bytes(b"nonsense")
    submission = harness.pipeline.work(sent.id)
    assert (submission.status, submission.stage) == (422, SubmissionStage.CHECKING)
    assert submission.sentence.startswith("this is not a complete tar.gz")
    sent = harness.push(harness.bot())
    harness.pending_uploads.archive(sent.id).unlink()
    missing = harness.pipeline.work(sent.id)
    assert (missing.status, missing.stage) == (422, SubmissionStage.CHECKING)


def test_a_failed_build_shows_the_end_of_its_output(
    harness: SubmissionHarness, strangers_accepted: None
) -> None:
    command = '["python", "-c", "print(1 / 0)"]'
    submission = harness.pushed(harness.bot("mybot", f"build = {command}"))
    assert (submission.state, submission.stage) == (
        SubmissionState.REFUSED,
        SubmissionStage.BUILDING,
    )
    assert "could not be built" in submission.sentence
    assert "\n" not in submission.sentence
    assert "ZeroDivisionError" in submission.output
    assert not any(harness.pipeline.versions.iterdir())


def test_a_failed_submission_lists_its_failed_checks(harness: SubmissionHarness) -> None:
    good = Check("starts", CheckOutcome.PASSED, "0.2 s")
    bad = Check(
        "plays", CheckOutcome.FAILED, "it led what it does not hold.", "poke", output="Oh no\n"
    )
    harness.checks = [good, bad, replace(bad, game="pokex", output="")]
    submission = harness.pushed(harness.bot())
    assert (submission.state, submission.status, submission.stage) == (
        *(SubmissionState.REFUSED, 422),
        SubmissionStage.TESTING,
    )
    assert submission.sentence.startswith(
        'The check "plays" (poke) failed. It led what it does not hold. 2 of 3 checks failed; `'
    )
    # The sentence has the first one.
    assert submission.output.splitlines() == [
        'The check "plays" (pokex) failed. It led what it does not hold.',
        "Oh no",
    ]
    assert not any(harness.pipeline.versions.iterdir())
    harness.checks = [good]
    assert harness.pushed(harness.bot()).version == "mybot@1"


def test_an_interrupted_submission_is_resumed(
    harness: SubmissionHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder = harness.ladder(open=True)

    class Died(BaseException):
        pass

    def dies(*_: object, **__: object) -> None:
        raise Died

    sent = harness.push(harness.bot())

    def interrupted(where: str) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(where, dies)
            with pytest.raises(Died):
                harness.pipeline.work(sent.id)

    for where in (
        "arena.bots.upload_archive.unpack",
        "arena.bots.version_store.admit",
        "arena.store.bots.versions.add_version",
    ):
        interrupted(where)
        assert submissions.find_submission(harness.engine, sent.id).state is SubmissionState.RUNNING
        with harness.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE submissions SET attempts = 0")
    for where in (
        "arena.store.tournaments.lifecycle.add_entrants",
        "arena.store.bots.submissions.decide",
    ):
        interrupted(where)
    done = harness.pipeline.work(sent.id)
    assert (done.state, done.version, done.ladders) == (
        SubmissionState.ACCEPTED,
        "mybot@1",
        (ladder.id,),
    )
    assert tournaments.find_tournament(harness.engine, ladder.id).entrants[2:] == ("mybot@1",)
    assert len(versions.list_versions(harness.engine, name="mybot")) == 1


def test_a_repeatedly_interrupted_submission_fails(harness: SubmissionHarness) -> None:
    sent = harness.push(harness.bot())
    for _ in range(3):
        submissions.take_up(harness.engine, sent.id)
    submission = harness.pipeline.work(sent.id)
    assert (submission.state, submission.status) == (SubmissionState.FAILED, 500)
    assert submission.sentence.startswith("the arena failed with it 3 times, or was interrupted")
    assert list(harness.pending_uploads.root.iterdir()) == []


def test_a_failing_runner_retries_and_then_gives_up(
    harness: SubmissionHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("arena.bots.upload_archive.unpack", full)
    monkeypatch.setattr(runner, "_TROUBLE_SECONDS", 0.0)
    sent = harness.push(harness.bot())
    runner.run(harness.pipeline, lambda: not harness.all_decided)
    submission = submissions.find_submission(harness.engine, sent.id)
    assert (submission.state, submission.attempts) == (SubmissionState.FAILED, 3)


def test_a_single_runner_works_on_the_oldest_submission_first(harness: SubmissionHarness) -> None:
    sent = [harness.push(harness.bot(f"bot{number}")) for number in range(3)]
    assert not harness.pending_uploads.is_attended
    seen = set()

    def goes_on() -> bool:
        seen.add(harness.pending_uploads.is_attended)
        return not harness.all_decided

    runner.run(harness.pipeline, goes_on)
    assert seen == {True}
    assert not harness.pending_uploads.is_attended
    done = [submissions.find_submission(harness.engine, each.id) for each in sent]
    assert all(each.state is SubmissionState.ACCEPTED for each in done)
    assert [each.ended for each in done] == sorted(each.ended or 0 for each in done)


def test_leftovers_of_killed_processes_are_removed_later(harness: SubmissionHarness) -> None:
    sent = harness.push(harness.bot())
    for name in (".s-old.part", "s-old.tar.gz", ".s-new.part"):
        (harness.pending_uploads.root / name).write_text("x")
    for path in harness.pending_uploads.root.iterdir():
        if path.name != ".s-new.part":
            os.utime(path, (0, 0))
    harness.pending_uploads.tidy({sent.id})
    assert {path.name for path in harness.pending_uploads.root.iterdir()} == {
        ".s-new.part",
        f"{sent.id}.tar.gz",
    }


def test_a_sentence_names_the_command_that_grants_a_model(harness: SubmissionHarness) -> None:
    command = "pokearena models grant small --owner ada"
    assert command in harness.pushed(harness.bot("mybot", 'models = ["small"]')).sentence
    grant_model(harness.engine, Grantee.OWNER, "ada", "small")
    again = harness.pushed(harness.bot("mybot", 'models = ["small"]', text="pass  # 2\n"))
    assert again.version == "mybot@2"
    assert command not in again.sentence
