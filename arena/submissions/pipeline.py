"""The stages of a submission: check, build, test, registration, entry on the ladders; their loop.

Each stage may be interrupted at any time. Repeating all stages is safe: existing results are found
and stay unchanged.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import SQLAlchemyError

from arena.bots import manifest, resolver, upload_archive, version_store
from arena.bots.bot import Bot
from arena.bots.sandbox import available_levels
from arena.bots.sandbox.available_levels import best_level
from arena.bots.sandbox.level import Level, refusal
from arena.errors import BotError, Conflict, InfrastructureError, StoreError
from arena.records.redaction import pathless
from arena.store.bots import submissions, versions
from arena.store.schema import Approval, SubmissionStage, SubmissionState
from arena.submissions import admission, open_ladders
from arena.submissions.admission import SubmissionRefused
from arena.submissions.pending_uploads import PendingUploads
from arena.system import file_tree
from referee.sanitizing import one_line, sanitized

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.bots.submissions import Submission
    from arena.store.bots.versions import Version
    from arena.submissions.conformance.check import Check


log = logging.getLogger("arena.submissions")

MOST_ATTEMPTS: Final = 3
_OUTPUT: Final = 8192
_PAUSE_SECONDS: Final = 0.5
_TROUBLE_SECONDS: Final = 5.0
_TIDY_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class SubmissionPipeline:
    """Handles submissions.

    Args:
        engine: the store.
        pending_uploads: the directory of pending uploads.
        versions: the directory of the files of all versions.
        examine: tests a built bot and returns the checks.
        level: returns the sandbox level for untrusted bots.
        keep: stores the files of an accepted version for other machines.
        most_active: the maximum number of active versions of an owner; 0: unlimited.
        needs_approval: whether an organiser must approve a tested bot.
    """

    engine: Engine
    pending_uploads: PendingUploads
    versions: Path
    examine: Callable[[Bot], Iterable[Check]]
    level: Callable[[], Level] = best_level
    keep: Callable[[Bot], None] = lambda bot: None
    most_active: int = 0
    needs_approval: bool = False

    def work(self, submission: str) -> Submission:
        """Process a submission to its decision, or until it waits for approval, and return it.

        Raises:
            OSError: the arena failed; the submission stays undecided, as with the other errors.
            InfrastructureError: the arena failed.
            StoreError: the store cannot be used.
            SQLAlchemyError: the store does not answer.
        """
        record = submissions.take_up(self.engine, submission)
        if record.is_decided or record.approval is Approval.WAITING:
            return record
        try:
            decided = self._decided(record)
        except SubmissionRefused as refused:
            decided = submissions.decide(
                self.engine,
                record.id,
                SubmissionState.REFUSED,
                one_line(self._shown(record, str(refused))),
                status=refused.status,
                output=self._shown(record, refused.output)[-_OUTPUT:],
            )
        if decided.is_decided:
            self.pending_uploads.clear(record.id)
        return decided

    def give_up(self, submission: str, reason: str) -> Submission:
        """Decide that the arena failed to process the submission."""
        sentence = f"the arena failed with it {MOST_ATTEMPTS} times{reason}; push it again later."
        decided = submissions.decide(
            self.engine, submission, SubmissionState.FAILED, sentence, status=500
        )
        self.pending_uploads.clear(submission)
        return decided

    def _decided(self, submission: Submission) -> Submission:
        version = self._made_before(submission)
        if version is None:
            if submission.attempts > MOST_ATTEMPTS:
                return self.give_up(submission.id, ", or was interrupted")
            bot = self._checked(submission)
            kept = self._built(submission, bot)
            try:
                if submission.approval is Approval.NONE:
                    self._tested(submission, kept)
                    if self.needs_approval:
                        return self._waiting(submission)
                _check_approval(submission)
                version = self._entered(submission, kept)
            except SubmissionRefused:
                self._forget(submission.content_hash)
                raise
        else:
            submissions.step(self.engine, submission.id, SubmissionStage.ENTERING)
        joined = open_ladders.join(self.engine, version, manifest.read(Path(version.folder)))
        return submissions.decide(
            self.engine,
            submission.id,
            SubmissionState.ACCEPTED,
            _welcome(version, joined),
            status=201,
            version=version.id,
            ladders=tuple(joined),
        )

    def _waiting(self, submission: Submission) -> Submission:
        submissions.step(
            self.engine, submission.id, SubmissionStage.APPROVING, awaits_approval=True
        )
        return submissions.find(self.engine, submission.id)

    def _made_before(self, submission: Submission) -> Version | None:
        """Return the version that the submission created before an interruption, if any."""
        for version in versions.listing(self.engine, name=submission.name):
            mine = version.owner == submission.owner and version.created >= submission.created
            if mine and version.content_hash == submission.content_hash:
                return version
        return None

    def _checked(self, submission: Submission) -> Bot:
        submissions.step(self.engine, submission.id, SubmissionStage.CHECKING)
        if why_not := refusal(submission.name, trusted=False, level=self.level()):
            raise SubmissionRefused(503, why_not)
        directory = self.pending_uploads.working_directory(submission.id)
        file_tree.remove(directory)
        directory.mkdir(mode=0o700)
        try:
            upload_archive.unpack(self.pending_uploads.archive(submission.id), directory)
            bot = replace(resolver.from_folder(directory), trusted=False)
            content = version_store.content_hash(bot)
        except FileNotFoundError:
            raise SubmissionRefused(422, "the upload is missing; push it again.") from None
        except BotError as error:
            raise SubmissionRefused(422, str(error)) from None
        manifest = bot.manifest
        assert manifest is not None
        if (manifest.name, content) != (submission.name, submission.content_hash):
            raise SubmissionRefused(
                422,
                f"the upload holds {manifest.name} with the content {content[:12]}…, but "
                f"{submission.name} with {submission.content_hash[:12]}… was announced; "
                "push it again.",
            )
        admission.check(
            self.engine,
            submission.owner,
            manifest.name,
            content,
            manifest.version or "",
            most_active=self.most_active,
        )
        return bot

    def _built(self, submission: Submission, bot: Bot) -> Bot:
        submissions.step(self.engine, submission.id, SubmissionStage.BUILDING)
        try:
            return version_store.admit(bot, self.versions)
        except BotError as error:
            sentence, _, output = str(error).partition("\n")
            raise SubmissionRefused(422, sentence, output) from None

    def _tested(self, submission: Submission, kept: Bot) -> None:
        submissions.step(self.engine, submission.id, SubmissionStage.TESTING)
        checks = list(self.examine(kept))
        failed = [check for check in checks if check.failed]
        if not failed:
            return
        sentences = [_check_sentence(check) for check in failed]
        wrote = next((check.output for check in failed if check.output), "")
        raise SubmissionRefused(
            422,
            f"{len(failed)} of {len(checks)} checks failed, the first: {sentences[0].rstrip('.')}. "
            "`pokearena test` tries the same at home.",
            "\n".join([*sentences, *([wrote] if wrote else [])]),
        )

    def _entered(self, submission: Submission, kept: Bot) -> Version:
        submissions.step(self.engine, submission.id, SubmissionStage.ENTERING)
        manifest = kept.manifest
        assert manifest is not None
        number = manifest.version or versions.number_for(self.engine, manifest.name, kept.content)
        try:
            self.keep(kept)
            return versions.add(
                self.engine,
                manifest.name,
                number,
                kept.content,
                str(kept.folder),
                asdict(manifest),
                submission.owner,
            )
        except Conflict as error:
            raise SubmissionRefused(409, str(error)) from None
        except BotError as error:
            raise SubmissionRefused(422, str(error)) from None

    def _forget(self, content: str) -> None:
        """Delete the files of this content if it does not belong to a version."""
        known = versions.listing(self.engine, retired=True)
        if all(version.content_hash != content for version in known):
            file_tree.remove(self.versions / content)
            resolver.strangers(self.versions / content).unlink(missing_ok=True)

    def _shown(self, submission: Submission, text: str) -> str:
        """Prepare a text for the sender: remove local paths and hidden characters."""
        text = sanitized(text)
        return pathless(
            text.replace(f"{self.pending_uploads.working_directory(submission.id)}/", "")
        )


def _check_approval(submission: Submission) -> None:
    """Check that the organiser has not refused a submission.

    Raises:
        SubmissionRefused: the organiser has.
    """
    if submission.approval is Approval.REFUSED:
        reason = submission.approval_reason.rstrip(".")
        raise SubmissionRefused(403, f"the organiser refused it: {reason}.")


def _check_sentence(check: Check) -> str:
    where = f" ({check.game})" if check.game else ""
    return f"{check.name}{where}: {check.sentence}"


def _welcome(version: Version, joined: Mapping[str, str]) -> str:
    """Return the sentence for an accepted version; `joined`: form of each ladder by its id."""
    if not joined:
        return (
            f"{version.id} is in the arena; no ladder is open to it. The organiser of the arena "
            "opens one with `pokearena serve --ladder FORM`."
        )
    ladders = ", ".join(f"{form} ({ladder})" for ladder, form in joined.items())
    return f"{version.id} is on {'the ladder' if len(joined) == 1 else 'the ladders'} {ladders}."


def run(pipeline: SubmissionPipeline, continues: Callable[[], bool] = lambda: True) -> None:
    """Handle submissions while `continues` returns True.

    Waits first if another process holds the lock of the directory.
    """
    with pipeline.pending_uploads.create().attended():
        log.info("handling submissions")
        tidy_at = 0.0
        while continues():
            if time.monotonic() >= tidy_at:
                tidy_at = time.monotonic() + _TIDY_SECONDS
                _tidy(pipeline)
            time.sleep(_PAUSE_SECONDS if _round(pipeline) else _TROUBLE_SECONDS)


def _round(pipeline: SubmissionPipeline) -> bool:
    """Handle the undecided submissions; owners take turns. Return False if the arena failed."""
    well = True
    tried: list[Submission] = []
    try:
        pipeline.level()
    except InfrastructureError as error:
        # They wait for the sandbox; an attempt would count.
        log.warning("submissions wait: %s", error)
        return False
    try:
        while (waiting := next_of(_due(pipeline.engine), tried)) is not None:
            tried.append(waiting)
            well &= _work(pipeline, waiting.id)
    except (SQLAlchemyError, StoreError) as error:
        log.warning("submissions cannot be handled: %s", error)
        return False
    return well


def _due(engine: Engine) -> list[Submission]:
    undecided = submissions.undecided(engine)
    return [each for each in undecided if each.approval is not Approval.WAITING]


def next_of(undecided: Sequence[Submission], tried: Sequence[Submission]) -> Submission | None:
    """Return the next submission: the oldest one of the owner with the fewest turns.

    Args:
        undecided: the waiting submissions, the oldest first.
        tried: the submissions handled in this round; they wait for the next round.
    """
    turns = Counter(submission.owner for submission in tried)
    done = {submission.id for submission in tried}
    waiting = [submission for submission in undecided if submission.id not in done]
    return min(waiting, key=lambda submission: turns[submission.owner], default=None)


def _work(pipeline: SubmissionPipeline, submission: str) -> bool:
    try:
        decided = pipeline.work(submission)
    except (OSError, InfrastructureError) as error:
        log.warning("the arena failed to handle %s: %s", submission, error)
        available_levels.doubt_level()
        if submissions.find(pipeline.engine, submission).attempts >= MOST_ATTEMPTS:
            pipeline.give_up(submission, "")
        return False
    log.info("%s is %s: %s", submission, decided.state, decided.sentence)
    return True


def _tidy(pipeline: SubmissionPipeline) -> None:
    try:
        version_store.tidy(pipeline.versions)
        pipeline.pending_uploads.tidy(
            {submission.id for submission in submissions.undecided(pipeline.engine)}
        )
    except (SQLAlchemyError, StoreError, OSError) as error:
        log.warning("leftover files of submissions cannot be removed: %s", error)
