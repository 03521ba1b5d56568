"""The stages of a submission: check, build, test, registration, and entry on the ladders.

Each stage may be interrupted at any time. Repeating all stages is safe: existing results are found
and stay unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.bots import manifest, resolver, upload_archive, version_store
from arena.bots.bot import Bot
from arena.bots.sandbox.available_levels import best
from arena.bots.sandbox.level import Level, refusal
from arena.errors import BotError, Conflict
from arena.records.redaction import pathless
from arena.store.bots import submissions, versions
from arena.store.schema import SubmissionStage, SubmissionState
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


MOST_ATTEMPTS: Final = 3
_OUTPUT: Final = 8192


@dataclass(frozen=True, slots=True)
class SubmissionPipeline:
    """Handles submissions.

    Args:
        engine: the store.
        shelf: the directory of pending uploads.
        versions: the directory of the files of all versions.
        examine: tests a built bot and returns the checks.
        level: returns the sandbox level for untrusted bots.
        keep: stores the files of an accepted version for other machines.
        most_active: the maximum number of active versions of an owner; 0: unlimited.
    """

    engine: Engine
    shelf: PendingUploads
    versions: Path
    examine: Callable[[Bot], Iterable[Check]]
    level: Callable[[], Level] = best
    keep: Callable[[Bot], None] = lambda bot: None
    most_active: int = 0

    def work(self, submission: str) -> Submission:
        """Process a submission to its decision and return it.

        Raises:
            OSError: the arena failed; the submission stays undecided, as with the other errors.
            InfrastructureError: the arena failed.
            StoreError: the store cannot be used.
            SQLAlchemyError: the store does not answer.
        """
        record = submissions.take_up(self.engine, submission)
        if record.is_decided:
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
        self.shelf.clear(record.id)
        return decided

    def give_up(self, submission: str, reason: str) -> Submission:
        """Decide that the arena failed to process the submission."""
        sentence = f"the arena failed with it {MOST_ATTEMPTS} times{reason}; push it again later."
        decided = submissions.decide(
            self.engine, submission, SubmissionState.FAILED, sentence, status=500
        )
        self.shelf.clear(submission)
        return decided

    def _decided(self, submission: Submission) -> Submission:
        version = self._made_before(submission)
        if version is None:
            if submission.attempts > MOST_ATTEMPTS:
                return self.give_up(submission.id, ", or was interrupted")
            bot = self._checked(submission)
            kept = self._built(submission, bot)
            try:
                self._tested(submission, kept)
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
            ladders=joined,
        )

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
        bench = self.shelf.bench(submission.id)
        file_tree.remove(bench)
        bench.mkdir(mode=0o700)
        try:
            upload_archive.unpack(self.shelf.parcel(submission.id), bench)
            bot = replace(resolver.from_folder(bench), trusted=False)
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
        sentences = [_told(check) for check in failed]
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
        return pathless(text.replace(f"{self.shelf.bench(submission.id)}/", ""))


def _told(check: Check) -> str:
    where = f" ({check.game})" if check.game else ""
    return f"{check.name}{where}: {check.sentence}"


def _welcome(version: Version, joined: tuple[str, ...]) -> str:
    if not joined:
        return (
            f"{version.id} is in the arena; no ladder is open to it. The organiser of the arena "
            "opens one with `pokearena serve --ladder FORM`."
        )
    return (
        f"{version.id} is on {'the ladder' if len(joined) == 1 else 'ladders'} {' '.join(joined)}."
    )
