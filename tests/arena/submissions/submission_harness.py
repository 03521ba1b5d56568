"""Provide an arena with a submission pipeline, and bots to submit."""

from pathlib import Path

from sqlalchemy import Engine

from arena.bots import resolver, upload_archive, version_store
from arena.bots.sandbox.level import Level
from arena.cli.workspace import Workspace
from arena.store import ids
from arena.store.bots import submissions, versions
from arena.store.bots.submissions import ReceivedUpload, Submission, SubmissionLimits
from arena.store.match_settings import TournamentPlan
from arena.store.tournaments.tournaments import Tournament
from arena.submissions.conformance.check import Check
from arena.submissions.pending_uploads import PendingUploads
from arena.submissions.pipeline import SubmissionPipeline
from arena.tournaments import scheduler

HOUSE = ("greedy", "random")


class SubmissionHarness:
    """Submit bots as an owner, and run the submission pipeline."""

    def __init__(self, folder: Path, engine: Engine | None = None) -> None:
        self.folder = folder
        self.workspace = Workspace(folder / "data")
        self.engine = engine or self.workspace.store
        self.pending_uploads = PendingUploads(self.workspace.folder.submissions)
        self.checks: list[Check] = []
        """The checks that every examination returns."""
        versions = self.workspace.folder.versions
        self.level = Level.BUBBLEWRAP
        self.pipeline = SubmissionPipeline(
            self.engine,
            self.pending_uploads,
            versions,
            lambda bot, owner: self.checks,
            lambda: self.level,
        )

    def bot(self, name: str = "mybot", *lines: str, text: str = "pass\n") -> Path:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "bot.py").write_text(text)
        manifest = (f'name = "{name}"', 'run = ["python", "bot.py"]', *lines)
        (folder / "bot.toml").write_text("\n".join(manifest) + "\n")
        return folder

    def push(self, folder: Path, owner: str = "ada") -> Submission:
        """Store an upload as the web server does, and return the submission."""
        bot = resolver.from_folder(folder)
        assert bot.manifest is not None
        made = ids.submission_id()
        with self.pending_uploads.part(made).open("wb") as output:
            upload_archive.pack(bot, output)
        self.pending_uploads.settle(made)
        size = self.pending_uploads.archive(made).stat().st_size
        sent = ReceivedUpload(made, owner, bot.manifest.name, version_store.content_hash(bot), size)
        return submissions.add_submission(self.engine, sent, SubmissionLimits())

    def pushed(self, folder: Path, owner: str = "ada") -> Submission:
        return self.pipeline.work(self.push(folder, owner).id)

    @property
    def all_decided(self) -> bool:
        return not submissions.undecided(self.engine)

    def ladder(self, game: str = "poke", **settings: bool | int) -> Tournament:
        for number, name in enumerate(HOUSE):
            versions.add_version(
                self.engine, name, "1", f"{number:064x}", f"/bots/{name}", {"run": ["x"]}
            )
        options = {"must_beat": True} if game == "poke" else {}
        plan = TournamentPlan(
            name=game,
            game=game,
            options=options,
            seats=2,
            boards=1,
            format="ladder",
            settings=settings,
        )
        return scheduler.begin(self.engine, plan, [f"{name}@1" for name in HOUSE], bytes(32))
