"""The stages of a submission: check, build, test, registration, entry on the ladders.

Each stage may be interrupted at any time. Repeating all stages is safe: existing results are found
and stay unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.bots import manifest, resolver, version_store
from arena.bots.bot import Bot
from arena.bots.build import BUILD_SECONDS
from arena.bots.sandbox.available_levels import best_level
from arena.bots.sandbox.level import Level, refusal
from arena.errors import BotError, Conflict
from arena.records.published_faults import pathless
from arena.store.bots import submissions, versions
from arena.store.bots.model_grants import granted_names
from arena.store.schema import Approval, SubmissionStage, SubmissionState
from arena.submissions import admission, open_ladders
from arena.submissions.admission import SubmissionRefused
from arena.submissions.pending_uploads import PendingUploads
from arena.submissions.uploaded_bot import read_uploaded_bot
from arena.system import file_tree
from referee.sanitizing import one_line, sanitized

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.bots.submissions import Submission
    from arena.store.bots.versions import Version
    from arena.submissions.conformance.check import Check


MOST_ATTEMPTS: Final = 3
_STAGES_OF_THE_BOT: Final = (SubmissionStage.BUILDING, SubmissionStage.TESTING)
_OUTPUT: Final = 8192
TEST_SECONDS: Final = 600.0
"""Time limit of everything but the build, in seconds; the test usually takes less than 120 s."""


@dataclass(frozen=True, slots=True)
class SubmissionPipeline:
    """Handles submissions.

    `arena.submissions.runner` enforces the total time limit.

    Args:
        versions: the directory of the files of all versions.
        examine: tests a built bot of an owner and returns the checks.
        level: returns the sandbox level for untrusted bots.
        keep: stores the files of an accepted version for other machines.
        most_active: the maximum number of active versions of an owner; 0: unlimited.
        needs_approval: whether an organiser must approve a tested bot.
        opens_ladders: whether an accepted bot opens the ladders of its games.
        build_seconds: the time limit of all build commands together.
        test_seconds: the time limit of all other stages together.
    """

    engine: Engine
    pending_uploads: PendingUploads
    versions: Path
    examine: Callable[[Bot, str], Iterable[Check]]
    level: Callable[[], Level] = best_level
    keep: Callable[[Bot], None] = lambda bot: None
    most_active: int = 0
    needs_approval: bool = False
    opens_ladders: bool = False
    build_seconds: float = BUILD_SECONDS
    test_seconds: float = TEST_SECONDS

    @property
    def most_seconds(self) -> float:
        """The time limit of all stages together."""
        return self.build_seconds + self.test_seconds

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

    def refuse_late(self, submission: str) -> Submission:
        """Refuse a submission whose build or test was stopped at the total time limit.

        At another stage the arena itself was late; the submission then stays undecided.
        """
        stored = submissions.find_submission(self.engine, submission)
        if stored.is_decided or stored.stage not in _STAGES_OF_THE_BOT:
            return stored
        refused = submissions.decide(
            self.engine,
            submission,
            SubmissionState.REFUSED,
            f"its build and its test took longer than {self.most_seconds:g} s together, which is "
            "the time limit of a submission.",
            status=422,
        )
        self._forget(stored.content_hash)
        self.pending_uploads.clear(submission)
        return refused

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
        bot_manifest = manifest.read(Path(version.folder))
        if self.opens_ladders:
            open_ladders.open_first(self.engine, bot_manifest)
        joined = open_ladders.join(self.engine, version, bot_manifest)
        return submissions.decide(
            self.engine,
            submission.id,
            SubmissionState.ACCEPTED,
            _welcome(version, joined) + self._without_models(version, bot_manifest.models),
            status=201,
            version=version.id,
            ladders=tuple(joined),
        )

    def _without_models(self, version: Version, declared: Sequence[str]) -> str:
        """Return a sentence about the models that are declared and not granted."""
        granted = granted_names(self.engine, version.owner, version.id, declared)
        if not (missing := [name for name in declared if name not in granted]):
            return ""
        command = f"pokearena models grant {missing[0]} --owner {version.owner}"
        return (
            f' It plays without the model "{missing[0]}", which the organiser grants with '
            f"`{command}`."
        )

    def _waiting(self, submission: Submission) -> Submission:
        submissions.step(
            self.engine, submission.id, SubmissionStage.APPROVING, awaits_approval=True
        )
        return submissions.find_submission(self.engine, submission.id)

    def _made_before(self, submission: Submission) -> Version | None:
        """Return the version that the submission created before an interruption, if any."""
        for version in versions.list_versions(self.engine, name=submission.name):
            mine = version.owner == submission.owner and version.created >= submission.created
            if mine and version.content_hash == submission.content_hash:
                return version
        return None

    def _checked(self, submission: Submission) -> Bot:
        submissions.step(self.engine, submission.id, SubmissionStage.CHECKING)
        if why_not := refusal(submission.name, trusted=False, level=self.level()):
            raise SubmissionRefused(503, why_not)
        bot, content = read_uploaded_bot(
            self.pending_uploads.archive(submission.id),
            self.pending_uploads.working_directory(submission.id),
        )
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
            return version_store.admit(bot, self.versions, build_seconds=self.build_seconds)
        except BotError as error:
            sentence, _, output = str(error).partition("\n")
            raise SubmissionRefused(422, sentence, output) from None

    def _tested(self, submission: Submission, kept: Bot) -> None:
        submissions.step(self.engine, submission.id, SubmissionStage.TESTING)
        checks = list(self.examine(kept, submission.owner))
        failed = [check for check in checks if check.failed]
        if not failed:
            return
        first, *others = (_check_sentence(check) for check in failed)
        wrote = next((check.output for check in failed if check.output), "")
        raise SubmissionRefused(
            422,
            f"{first.rstrip('.')}. {len(failed)} of {len(checks)} checks failed; "
            "`pokearena test` tries the same at home.",
            "\n".join([*others, *([wrote] if wrote else [])]),
        )

    def _entered(self, submission: Submission, kept: Bot) -> Version:
        submissions.step(self.engine, submission.id, SubmissionStage.ENTERING)
        manifest = kept.manifest
        assert manifest is not None
        number = manifest.version or versions.number_for(self.engine, manifest.name, kept.content)
        try:
            self.keep(kept)
            return versions.add_version(
                self.engine,
                manifest.name,
                number,
                kept.content,
                str(kept.folder),
                manifest.stored_values(),
                submission.owner,
            )
        except Conflict as error:
            raise SubmissionRefused(409, str(error)) from None
        except BotError as error:
            raise SubmissionRefused(422, str(error)) from None

    def _forget(self, content: str) -> None:
        """Delete the files of this content if it does not belong to a version."""
        known = versions.list_versions(self.engine, retired=True)
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
    sentence = check.sentence[:1].upper() + check.sentence[1:]
    return f'The check "{check.name}"{where} failed. {sentence}'


def _welcome(version: Version, joined: Mapping[str, str]) -> str:
    """Return the sentence for an accepted version; `joined`: form of each ladder by its id."""
    if not joined:
        return (
            f"{version.id} is in the arena; no ladder is open to it. The organiser of the arena "
            "opens one with `pokearena serve --ladder FORM`."
        )
    ladders = ", ".join(f"{form} ({ladder})" for ladder, form in joined.items())
    return f"{version.id} is on {'the ladder' if len(joined) == 1 else 'the ladders'} {ladders}."
