"""Text that is given to a run rather than read from a file.

It waits in the artifact store under the hash of its content, so the manifest holds an id and that hash
alone, and a document of given text can be made anew for as long as the store keeps it.
"""

import unicodedata

from pipeline import ids
from pipeline.errors import LoadCode, LoadError
from pipeline.load import clean, require_text
from pipeline.models import LoadedText
from pipeline.ports import ArtifactStore
from pipeline.write import MAX_ID_BYTES, is_storable
from scheduler.codec import FORMAT, encode
from scheduler.errors import DocumentIdInvalid
from scheduler.records import NewFile

_NOTHING = ids.content_hash("")
# Controls and half characters: no index keeps them, and our own separator is one.
_REFUSED = frozenset({"Cc", "Cs"})


def check_document_id(identity: str) -> None:
    """Refuse an id that a graph would not find again, or that is a file's; raises `DocumentIdInvalid`."""
    if not identity.strip():
        raise DocumentIdInvalid("The id is empty. Give the document one of its own, as in minutes-2026-11.")
    if identity != identity.strip():
        raise DocumentIdInvalid(f"The id {identity!r} begins or ends with white space. Leave that out.")
    if identity.startswith(ids.FILE_PREFIX):
        raise DocumentIdInvalid(
            f"The id {identity!r} is that of a file's document, which text cannot replace: "
            f"ingest the file, or choose an id that does not begin with {ids.FILE_PREFIX!r}."
        )
    if bad := sorted({char for char in identity if unicodedata.category(char) in _REFUSED}):
        shown = ", ".join(f"U+{ord(char):04X}" for char in bad)
        raise DocumentIdInvalid(f"The id {identity!r} holds control or half characters ({shown}). Leave them out.")
    # Its past version waits under the longest of its names.
    longest = max(ids.next_version(identity), ids.past_version(identity), key=len)
    if not is_storable(longest):
        room = MAX_ID_BYTES - len(longest.encode()) + len(identity.encode())
        raise DocumentIdInvalid(f"The id has {len(identity.encode()):,} bytes; the graph finds {room:,} again at most.")


def clean_given(text: str, max_chars: int) -> str:
    """Make given text storable; '' where it shows nothing. Raises `LoadError` (`LIMIT_EXCEEDED`)."""
    text = clean(text)
    try:
        require_text(text, max_chars)
    except LoadError as error:
        if error.load_code is LoadCode.EMPTY_DOCUMENT:
            return ""
        raise
    return text


def give_text(text: str, identity: str, artifacts: ArtifactStore) -> NewFile:
    """Put clean text where workers find it; gives its line of the manifest. Raises `ArtifactsUnavailable`."""
    content = ids.content_hash(text)
    if text:
        artifacts.put(_key(content), encode(LoadedText(text, "text/plain")))
    return NewFile(identity, len(text.encode()), order={"id": identity, "content": content})


def take_text(identity: str, content: str, artifacts: ArtifactStore) -> str:
    """Find the text of that hash which was given for a document; gives its key.

    Raises:
        LoadError: `EMPTY_DOCUMENT` where nothing was given, `MISSING` where the store does not hold it (any more).
    """
    if content == _NOTHING:
        raise LoadError(LoadCode.EMPTY_DOCUMENT, "The text that was given is empty.")
    key = _key(content)
    if artifacts.get(key) is None:
        raise LoadError(
            LoadCode.MISSING,
            f"The text of {identity} is not in this worker's store of stage results. Give the text once more; "
            "hosts must share that folder (GRAPHMILL_ARTIFACTS_DIR).",
        )
    return key


def _key(content: str) -> str:
    return ids.artifact_key("text", (FORMAT, "given", content))
