"""Who may read the transcripts of a match, which are the calls of models by its bots."""

from __future__ import annotations

from pathlib import Path

from arena.config import Folder
from arena.models.transcripts import TRANSCRIPT, transcript_files
from arena.store.access.sessions import Identity, Role
from arena.store.bots import versions
from arena.store.matches.listing import Match
from arena.store.schema import MatchState
from arena.web.data.web_state import WebState
from arena.web.page import PageRequest


def transcripts_of(web: WebState, match: Match) -> list[Path]:
    """Return the transcripts of a match on this machine."""
    root = web.settings.data
    return [] if root is None else transcript_files(Folder(root).outputs, match.id)


def may_read_transcript(web: WebState, identity: Identity, match: Match, version: str) -> bool:
    """Return whether a person may read the transcript of a version.

    It contains hidden cards and prompts: it is for organisers and the owner, after the match.
    """
    if match.state is not MatchState.CLOSED or version not in match.entrants:
        return False
    if identity.role is Role.ORGANISER:
        return True
    owner = versions.find_version(web.engine, version).owner
    return identity.role is Role.OWNER and owner == identity.name


def readable_transcripts(web: WebState, page_request: PageRequest, match: Match) -> list[str]:
    """Return the versions of a match whose transcripts the signed-in person may read."""
    viewer = page_request.viewer
    if viewer is None:
        return []
    names = [path.name.removesuffix(TRANSCRIPT) for path in transcripts_of(web, match)]
    return [name for name in names if may_read_transcript(web, viewer, match, name)]
