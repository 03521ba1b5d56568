"""The way of a submission: checked, built, tested, on the ladder.

Each stage may be interrupted at any moment, and all of them gone through again: what is there
already is found, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.bots import archive, file_tree, manifest, parcel, resolver
from arena.bots.bot import Bot
from arena.bots.errors import BotError
from arena.bots.sandbox.level import Level
from arena.bots.sandbox.offer import best, refusal
from arena.discretion import pathless
from arena.store import submissions, versions
from arena.store.errors import Conflict
from arena.store.schema import Stage, SubmissionState
from arena.submissions import admission, ladders
from arena.submissions.admission import Refused
from arena.submissions.shelf import Shelf
from referee.sanitizing import one_line, sanitized

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.conformance.check import Check
    from arena.store.submissions import Submission
    from arena.store.versions import Version

MOST_ATTEMPTS: Final = 3
_OUTPUT: Final = 8192


@dataclass(frozen=True, slots=True)
class Office:
    """Where submissions are worked on.

    versions: the folder of the files of all versions. examine: tries a bot that has been built.
    level: in which sandbox that is. keep: has the files of one that has passed sent to other
    machines.
    """

    engine: Engine
    shelf: Shelf
    versions: Path
    examine: Callable[[Bot], Iterable[Check]]
    level: Callable[[], Level] = best
    keep: Callable[[Bot], None] = lambda bot: None

    def work(self, submission: str) -> Submission:
        """Takes a submission up, or up again, and to its end.

        Raises OSError and InfrastructureError for what is the arena's fault, StoreError and
        SQLAlchemyError; it is undecided then.
        """
        found = submissions.take_up(self.engine, submission)
        if found.is_decided:
            return found
        try:
            decided = self._decided(found)
        except Refused as refused:
            decided = submissions.decide(
                self.engine,
                found.id,
                SubmissionState.REFUSED,
                one_line(self._shown(found, str(refused))),
                status=refused.status,
                output=self._shown(found, refused.output)[-_OUTPUT:],
            )
        self.shelf.clear(found.id)
        return decided

    def give_up(self, submission: str, reason: str) -> Submission:
        """Notes that the arena cannot do it."""
        sentence = f"the arena failed with it {MOST_ATTEMPTS} times{reason}; push it again later."
        decided = submissions.decide(
            self.engine, submission, SubmissionState.FAILED, sentence, status=500
        )
        self.shelf.clear(submission)
        return decided

    def _decided(self, found: Submission) -> Submission:
        version = self._made_before(found)
        if version is None:
            if found.attempts > MOST_ATTEMPTS:
                return self.give_up(found.id, ", or was interrupted")
            bot = self._checked(found)
            kept = self._built(found, bot)
            try:
                self._tested(found, kept)
                version = self._entered(found, kept)
            except Refused:
                self._forget(found.content_hash)
                raise
        else:
            submissions.step(self.engine, found.id, Stage.ENTERING)
        joined = ladders.join(self.engine, version, manifest.read(Path(version.folder)))
        return submissions.decide(
            self.engine,
            found.id,
            SubmissionState.ACCEPTED,
            _welcome(version, joined),
            status=201,
            version=version.id,
            ladders=joined,
        )

    def _made_before(self, found: Submission) -> Version | None:
        """The version that it became before it was interrupted."""
        for version in versions.listing(self.engine, name=found.name):
            mine = version.owner == found.owner and version.created >= found.created
            if mine and version.content_hash == found.content_hash:
                return version
        return None

    def _checked(self, found: Submission) -> Bot:
        submissions.step(self.engine, found.id, Stage.CHECKING)
        if why_not := refusal(found.name, trusted=False, level=self.level()):
            raise Refused(503, why_not)
        bench = self.shelf.bench(found.id)
        file_tree.remove(bench)
        bench.mkdir(mode=0o700)
        try:
            parcel.unpack(self.shelf.parcel(found.id), bench)
            bot = replace(resolver.from_folder(bench), trusted=False)
            content = archive.content_hash(bot)
        except FileNotFoundError:
            raise Refused(422, "what was sent is not here any more; push it again.") from None
        except BotError as error:
            raise Refused(422, str(error)) from None
        said = bot.manifest
        assert said is not None
        if (said.name, content) != (found.name, found.content_hash):
            raise Refused(
                422,
                f"what has arrived is {said.name} with the content {content[:12]}…, and "
                f"{found.name} with {found.content_hash[:12]}… was announced; push it again.",
            )
        admission.check(self.engine, found.owner, said.name, content, said.version or "")
        return bot

    def _built(self, found: Submission, bot: Bot) -> Bot:
        submissions.step(self.engine, found.id, Stage.BUILDING)
        try:
            return archive.admit(bot, self.versions)
        except BotError as error:
            sentence, _, output = str(error).partition("\n")
            raise Refused(422, sentence, output) from None

    def _tested(self, found: Submission, kept: Bot) -> None:
        submissions.step(self.engine, found.id, Stage.TESTING)
        checks = list(self.examine(kept))
        failed = [check for check in checks if check.failed]
        if not failed:
            return
        told = [_told(check) for check in failed]
        wrote = next((check.output for check in failed if check.output), "")
        raise Refused(
            422,
            f"{len(failed)} of {len(checks)} checks failed, the first: {told[0].rstrip('.')}. "
            "`pokearena test` tries the same at home.",
            "\n".join([*told, *([wrote] if wrote else [])]),
        )

    def _entered(self, found: Submission, kept: Bot) -> Version:
        submissions.step(self.engine, found.id, Stage.ENTERING)
        said = kept.manifest
        assert said is not None
        number = said.version or versions.number_for(self.engine, said.name, kept.content)
        try:
            self.keep(kept)
            return versions.add(
                self.engine,
                said.name,
                number,
                kept.content,
                str(kept.folder),
                asdict(said),
                found.owner,
            )
        except Conflict as error:
            raise Refused(409, str(error)) from None
        except BotError as error:
            raise Refused(422, str(error)) from None

    def _forget(self, content: str) -> None:
        """Removes what was built of a content that is no version."""
        known = versions.listing(self.engine, retired=True)
        if all(version.content_hash != content for version in known):
            file_tree.remove(self.versions / content)
            resolver.strangers(self.versions / content).unlink(missing_ok=True)

    def _shown(self, found: Submission, text: str) -> str:
        """A text for its sender, without the folders of this machine and hidden characters."""
        text = sanitized(text)
        return pathless(text.replace(f"{self.shelf.bench(found.id)}/", ""))


def _told(check: Check) -> str:
    where = f" ({check.game})" if check.game else ""
    return f"{check.name}{where}: {check.sentence}"


def _welcome(version: Version, joined: tuple[str, ...]) -> str:
    if not joined:
        return (
            f"{version.id} is in the arena; no ladder is open to it, so its organiser has to let "
            "it into a tournament."
        )
    return (
        f"{version.id} is on {'the ladder' if len(joined) == 1 else 'ladders'} {' '.join(joined)}."
    )
