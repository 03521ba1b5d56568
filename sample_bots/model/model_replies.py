"""Read the replies of a model: the action that a reply names, or why it names none.

A reply names an action by one JSON object, ``{"action": NUMBER}``. Nothing is guessed from prose.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

ACTION: Final = "action"
TRUNCATED: Final = "truncated"
EMPTY: Final = "empty"
UNPARSABLE: Final = "unparsable"
ILLEGAL: Final = "illegal"
REFUSED: Final = "refused"
TRANSPORT: Final = "transport"

LONGEST: Final = 64 << 10
"""Maximum length of a reply in characters."""
_LISTED: Final = re.compile(r"(\d+): (.+)")
_TITLE: Final = "LEGAL ACTIONS"
_THOUGHT: Final = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_END_OF_THOUGHT: Final = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_DIGITS: Final = re.compile(r"[0-9]{1,6}")
_OPEN, _CLOSE = "{", "}"


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply as it arrived from the endpoint."""

    text: str = ""
    finish: str = ""
    """Why the model stopped: "stop", "length", "content_filter", "tool_calls"."""
    refusal: str = ""
    failure: str = ""
    """Why no reply arrived; empty if one did."""
    thoughts: str = ""
    """What the model thought, if the endpoint sends it apart from the reply."""
    tokens_in: int = 0
    tokens_out: int = 0
    """Tokens of the request and of the reply; 0 if the endpoint does not state them."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The meaning of a reply."""

    kind: str
    """`ACTION`, or the kind of a reply that names no action."""
    answer: str = ""
    """The number of a listed action, as text; or an action in words that is not listed."""
    note: str = ""
    detail: str = ""
    """Why the reply names no action."""

    @property
    def is_listed(self) -> bool:
        """Whether the answer is the number of a listed action."""
        return _DIGITS.fullmatch(self.answer) is not None


def listed_actions(question: str) -> list[str]:
    """Return the legal actions that the text of a question lists, in the order of their numbers."""
    section = question.partition(f"\n{_TITLE}\n")[2]
    actions: list[str] = []
    for line in section.splitlines():
        listed = _LISTED.fullmatch(line)
        if listed is None or int(listed[1]) != len(actions):
            break
        actions.append(listed[2])
    return actions


def read_reply(reply: Reply, actions: list[str]) -> Reading:
    """Return the action that a reply names, or the kind of the reply.

    Args:
        reply: the reply.
        actions: the listed actions of the question.
    """
    if reply.failure:
        return Reading(TRANSPORT, detail=reply.failure)
    if reply.refusal or reply.finish == "content_filter":
        return Reading(REFUSED, detail=reply.refusal or "the content filter stopped it")
    if len(reply.text) > LONGEST:
        return Reading(UNPARSABLE, detail=f"it has more than {LONGEST} characters")
    if not reply.text.strip(" \t\r\n\0\ufeff"):
        if reply.finish == "length":
            return Reading(TRUNCATED, detail="the limit of tokens was reached")
        if reply.finish == "tool_calls":
            return Reading(UNPARSABLE, detail="it calls a tool, and there are no tools")
        return Reading(EMPTY, detail="it is empty")
    text = _END_OF_THOUGHT.split(reply.text)[-1]
    if _THOUGHT.search(text):
        return Reading(TRUNCATED, detail="it ends within its thoughts")
    found = _last_object(text)
    if isinstance(found, Reading):
        return _cut(found) if reply.finish == "length" else found
    return _named(found, actions)


def _cut(reading: Reading) -> Reading:
    return Reading(TRUNCATED, detail=f"the limit of tokens was reached, {reading.detail}")


def _last_object(text: str) -> dict[str, Any] | Reading:
    """Return the last JSON object of a text; its members are lists of their values.

    An object that is broken makes the whole text unreadable: a complete object within it, or before
    it, need not be what the model meant.
    """
    if text.lstrip().startswith("["):
        return Reading(UNPARSABLE, detail="it is a list instead of one JSON object")
    last: dict[str, Any] | None = None
    place = text.find(_OPEN)
    while place >= 0:
        try:
            last, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            if not _is_prose(text, place):
                return _broken(text, place)
            end = text.index(_CLOSE, place) + 1
        place = text.find(_OPEN, end)
    return last if last is not None else Reading(UNPARSABLE, detail="it has no JSON object")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Collect the values of each member, so that a repeated name is not lost."""
    members: dict[str, Any] = {}
    for name, value in pairs:
        members.setdefault(name.strip().lower(), []).append(value)
    return members


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_members, strict=False)


def _is_prose(text: str, place: int) -> bool:
    """Return whether a brace begins words in braces, such as a formula, and not an object."""
    end = text.find(_CLOSE, place)
    words = text[place + 1 : end]
    return end > 0 and _OPEN not in words and '"' not in words and ACTION not in words.lower()


def _broken(text: str, place: int) -> Reading:
    rest = text[place:]
    if rest.count(_OPEN) > rest.count(_CLOSE):
        return Reading(TRUNCATED, detail="its JSON object is not complete")
    return Reading(UNPARSABLE, detail="its JSON object is not valid")


def _named(members: dict[str, Any], actions: list[str]) -> Reading:
    """Return the action that an object names."""
    values = members.get(ACTION, [])
    if len(values) != 1:
        problem = "has no member" if not values else "repeats the member"
        return Reading(UNPARSABLE, detail=f'its JSON object {problem} "{ACTION}"')
    value = values[0]
    notes = [note for note in members.get("note", []) if isinstance(note, str)]
    note = notes[0] if len(notes) == 1 else ""
    if type(value) is int:
        return _numbered(value, note, actions)
    if isinstance(value, str) and value.strip():
        return _in_words(value.strip(), note, actions)
    return Reading(UNPARSABLE, detail=f'the value of "{ACTION}" is not a number')


def _numbered(number: int, note: str, actions: list[str]) -> Reading:
    if 0 <= number < len(actions):
        return Reading(ACTION, str(number), note)
    return Reading(ILLEGAL, detail=f"the actions have the numbers 0 to {len(actions) - 1}")


def _in_words(words: str, note: str, actions: list[str]) -> Reading:
    """Return an action that is named by its number or its words, or by both as it is listed."""
    if _DIGITS.fullmatch(words):
        return _numbered(int(words), note, actions)
    if listed := _LISTED.fullmatch(words):
        number = int(listed[1]) if _DIGITS.fullmatch(listed[1]) else -1
        if 0 <= number < len(actions) and _plain(actions[number]) == _plain(listed[2]):
            return Reading(ACTION, str(number), note)
        return Reading(ILLEGAL, detail="its number and its words do not belong to one action")
    equal = [n for n, action in enumerate(actions) if _plain(action) == _plain(words)]
    if len(equal) == 1:
        return Reading(ACTION, str(equal[0]), note)
    return Reading(ILLEGAL, words[:400], note, f'"{words[:80]}" is not in the list')


def _plain(words: str) -> str:
    """Return words without differences of case and spaces."""
    return " ".join(words.casefold().split())
