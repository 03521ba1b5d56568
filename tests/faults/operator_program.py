"""Run each operation of an organiser in a process of its own, which a fault point can kill.

Each line of standard input is a list: the words of `main` and the environment. The program runs it
in a fork, which needs no imports, and prints the exit status.
"""

import contextlib
import importlib
import io
import json
import os
import secrets
import sys
from pathlib import Path

from sqlalchemy import Engine, update

from arena.bots import resolver, upload_archive, version_store
from arena.bots.sandbox.level import Level
from arena.config import Folder
from arena.errors import Conflict
from arena.formats.contract import FormatEntrant
from arena.ladders import ladder_key, rater
from arena.ratings.call_figures import CallFigures
from arena.records import rebuilt_results
from arena.store import backup_file, database, schema, webhooks
from arena.store.access import audit_log, organisers, sessions
from arena.store.access.audit_log import COMMAND_LINE, AuditEntry
from arena.store.bots import (
    model_grants,
    owners,
    quarantine,
    remote_bots,
    stored_builds,
    submissions,
    versions,
)
from arena.store.bots.model_grants import Grantee
from arena.store.bots.submissions import ReceivedUpload, SubmissionLimits
from arena.store.idle_results import ANALYSES, LUCK
from arena.store.match_settings import Clock, TournamentPlan
from arena.store.matches import (
    corrections,
    listing,
    match_leases,
    model_calls,
    offline_bot_waits,
)
from arena.store.matches.model_calls import Caller, CallPlace
from arena.store.objects import file_moves, object_storage, stored_objects
from arena.store.schema import ObjectKind
from arena.store.tournaments import lifecycle, tournaments
from arena.store.webhooks import AttemptResult, WebhookFormat, WebhookScope
from arena.submissions import owner_deletion
from arena.submissions.pending_uploads import PendingUploads
from arena.submissions.pipeline import SubmissionPipeline
from arena.system import failpoint
from arena.tournaments import scheduler


def rebuild(engine: Engine) -> None:
    cups = [tournament.id for tournament in tournaments.list_tournaments(engine)]
    for rebuilt in list(rebuilt_results.rebuilt(engine, cups)):
        rebuilt_results.store_rebuilt(engine, rebuilt)


def push(engine: Engine, where: Folder, bot: str, submission: str) -> None:
    bot_version = resolver.from_folder(Path(bot))
    pending_uploads = PendingUploads(where.submissions)
    with pending_uploads.part(submission).open("wb") as output:
        upload_archive.pack(bot_version, output)
    pending_uploads.settle(submission)
    content = version_store.content_hash(bot_version)
    submissions.add_submission(
        engine, ReceivedUpload(submission, "ada", bot_version.label, content, 1), SubmissionLimits()
    )


def receive(engine: Engine, where: Folder) -> None:
    """Process the undecided submissions as `serve --approve-pushes` does, and approve them."""
    pending_uploads = PendingUploads(where.submissions)
    pipeline = SubmissionPipeline(
        engine,
        pending_uploads,
        where.versions,
        lambda bot, owner: (),
        lambda: Level.BUBBLEWRAP,
        needs_approval=True,
    )
    for submission in submissions.undecided(engine):
        if not pipeline.work(submission.id).is_decided:
            submissions.approve(engine, submission.id, approved=True, reason="it plays well")
            pipeline.work(submission.id)


def use_webhook(engine: Engine) -> None:
    """Add a webhook, record a delivery and a test, and remove it."""
    every = tuple(webhooks.AnnouncementType)
    hook = webhooks.add_webhook(
        engine, "https://a.example/", WebhookFormat.STANDARD, every, WebhookScope()
    )
    number = len(versions.list_versions(engine, name="hooked")) + 1
    versions.add_version(engine, "hooked", str(number), f"{number:064x}", "/hooked", {})
    webhooks.plan(engine)
    due = webhooks.start(engine, hook.id)
    assert due is not None
    webhooks.record_attempt(engine, due[1], AttemptResult(204))
    webhooks.note_test(engine, hook.id, "msg_1", AttemptResult(204))
    webhooks.remove(engine, hook.id)


def use_idle_results(engine: Engine) -> None:
    """Store an analysis and the luck of the newest matches that are due, and delete all luck."""
    for kind in (ANALYSES, LUCK):
        task = kind.claim(engine, 0)
        if task is not None:
            kind.finish(engine, task, {"form": 0})
    played = [tournament.id for tournament in tournaments.list_tournaments(engine)]
    LUCK.remove_of_tournaments(engine, played)


def use_models(engine: Engine) -> None:
    """Grant a model, call it, stop and resume all calls, and revoke the grant."""
    grant = (Grantee.VERSION, "first@1", "model")
    # An interrupted process may have granted it.
    with contextlib.suppress(Conflict):
        model_grants.grant_model(engine, *grant)
    model_calls.resume_calls(engine)
    caller = Caller("first", "first@1", "m-0000000000", 1, 0)
    owners = {caller.version: caller.owner}
    model_calls.reserve_match(engine, caller.match, caller.attempt, owners, 1000, 1_000_000)
    call = model_calls.reserve_call(
        engine, caller, CallPlace(0), "model", CallFigures(100, 100), 1_000_000
    )
    model_calls.settle_call(engine, call, CallFigures(10, 10))
    model_calls.release_match(engine, caller.match, caller.attempt)
    model_calls.stop_calls(engine)
    model_calls.resume_calls(engine)
    model_grants.revoke_model(engine, *grant)


def use_token(engine: Engine) -> None:
    """Add an organiser, renew the token, sign in and out, log a change, and revoke the token."""
    name = f"organiser-{secrets.token_hex(4)}"
    organisers.add_organiser(engine, name)
    signed_in = sessions.sign_in(engine, organisers.renew(engine, name))
    assert signed_in is not None
    sessions.sign_out(engine, signed_in[0])
    with audit_log.audited(engine, AuditEntry(COMMAND_LINE, "test", name)):
        pass
    organisers.revoke(engine, name)


def correct(engine: Engine) -> None:
    """Correct an owner, void, replay and decide matches, disqualify an entrant, and ban it."""
    names = [f"bot-{secrets.token_hex(4)}" for _ in range(3)]
    for name in names:
        versions.add_version(engine, name, "1", secrets.token_hex(32), f"/{name}", {})
    entrants = [f"{name}@1" for name in names]
    plan = TournamentPlan(
        name="corrected",
        game="saint_poker",
        options={},
        seats=2,
        boards=1,
        clock=Clock(60_000, 20_000),
    )
    tournament = scheduler.begin(engine, plan, entrants, bytes(32)).id
    versions.reassign(engine, names[0], "ada")
    [match, other, third] = listing.matches(engine, tournament=tournament)
    match_leases.void(engine, other.id, "a test")
    corrections.replay(engine, other.id, audit_log.COMMAND_LINE, "a test")
    corrections.void(engine, match.id, audit_log.COMMAND_LINE, "a test")
    loser = third.entrants[0]
    corrections.forfeit(engine, third.id, loser, audit_log.COMMAND_LINE, "a test")
    corrections.disqualify(engine, tournament, entrants[0], audit_log.COMMAND_LINE, "a test")
    quarantine.ban(engine, entrants[0], "a test")


def rate_ladder(engine: Engine) -> None:
    """Play some rounds of a ladder, rate it, and rebuild it."""
    names = [f"bot-{secrets.token_hex(4)}" for _ in range(3)]
    for name in names:
        versions.add_version(engine, name, "1", secrets.token_hex(32), f"/{name}", {})
    plan = TournamentPlan(
        name="rated", game="saint_poker", options={}, seats=2, boards=1, format="ladder"
    )
    ladder = scheduler.begin(engine, plan, [f"{name}@1" for name in names], bytes(32))
    advancing = scheduler.Scheduler(engine)
    for _ in range(3):
        for match in listing.matches(engine, tournament=ladder.id):
            match_leases.void(engine, match.id, "a test")
        advancing.advance()
    key = ladder_key.of_tournament(tournaments.find_tournament(engine, ladder.id))
    rater.advance(engine)
    rater.rebuild(engine, key)
    lifecycle.cancel(engine, ladder.id)


def use_objects(engine: Engine, where: Folder) -> None:
    """Move all files to object storage, abandon and discard objects, and move all files back."""
    object_storage.bind(engine, None)
    stored_builds.keep_build(engine, secrets.token_hex(32), io.BytesIO(b"packed"), trusted=False)
    storage = object_storage.from_url(f"file://{where.root}/objects")
    object_storage.bind(engine, storage)
    file_moves.to_objects(engine, lambda what, done, of: None)
    content = secrets.token_hex(32)
    for _ in range(2):
        # The second object is discarded.
        stored_builds.keep_build(engine, content, io.BytesIO(b"packed"), trusted=False)
    stored_objects.write(engine, storage, ObjectKind.BUILD, content, io.BytesIO(b"abandoned"))
    with database.writing(engine) as connection:
        objects = schema.stored_objects
        connection.execute(update(objects).values(changed=objects.c.changed - 7200))
    file_moves.to_database(engine, lambda what, done, of: None)


def main(url: str, action: str, *words: str) -> None:
    """Run the operation that the command line names."""
    engine = database.open(url)
    if action == "schedule":
        plan = TournamentPlan(
            name="cup",
            game="saint_poker",
            options={},
            seats=2,
            boards=1,
            clock=Clock(60_000, 20_000),
        )
        scheduler.begin(engine, plan, words, bytes(32))
    elif action == "add_version":
        versions.add_version(engine, "late", "1", "0" * 64, "/late", {})
    elif action == "keep_crate":
        stored_builds.keep_build(engine, "0" * 64, io.BytesIO(b"packed"), trusted=False)
    elif action == "trust_crate":
        stored_builds.trust(engine, "0" * 64)
    elif action == "add_remote":
        remote_bots.add_relayed(engine, "far", "1")
    elif action == "presence":
        remote_bots.record_connected(engine, "far@1", "", 1)
    elif action == "give_up":
        offline_bot_waits.give_up(engine, 0, 0)
    elif action == "own":
        versions.set_owner(engine, versions.find_version(engine, words[0]), words[1])
    elif action == "add_token":
        owners.add_owner(engine, *words)
    elif action == "renew_token":
        owners.renew(engine, *words)
    elif action == "revoke_token":
        owners.revoke(engine, *words)
    elif action == "delete_owner":
        owner_deletion.delete(engine, Folder(Path(words[1])), words[0])
    elif action == "submit":
        push(engine, Folder(Path(words[0])), *words[1:])
    elif action == "receive":
        receive(engine, Folder(Path(words[0])))
    elif action == "restore":
        backup_file.restore(engine, Path(words[0]), lambda what, done, of: None)
    elif action == "use_webhook":
        use_webhook(engine)
    elif action == "use_idle_results":
        use_idle_results(engine)
    elif action == "use_objects":
        use_objects(engine, Folder(Path(words[0])))
    elif action == "use_token":
        use_token(engine)
    elif action == "correct":
        correct(engine)
    elif action == "rebuild":
        rebuild(engine)
    elif action == "use_models":
        use_models(engine)
    elif action == "rate_ladder":
        rate_ladder(engine)
    elif action == "retire":
        versions.retire(engine, *words)
    elif action == "lift":
        quarantine.lift(engine, *words)
    elif action == "join":
        lifecycle.add_entrants(engine, words[0], [FormatEntrant(words[1])])
    elif action == "withdraw":
        lifecycle.withdraw(engine, *words)
    elif action == "void":
        match_leases.void(engine, words[0], "The organiser gave it up.")
    else:
        {"pause": lifecycle.pause, "resume": lifecycle.resume, "cancel": lifecycle.cancel}[action](
            engine, *words
        )


def serve() -> None:
    for line in sys.stdin:
        words, environment = json.loads(line)
        pid = os.fork()
        if pid == 0:
            # Standard output belongs to the statuses.
            os.dup2(2, 1)
            os.environ.clear()
            os.environ.update(environment)
            # The module reads its variable when it is imported.
            importlib.reload(failpoint)
            main(*words)
            return
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    serve()
