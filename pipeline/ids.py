"""Deterministic identities, so that doing a thing twice is the same as doing it once.

Rules: the architecture's "Identity". Everything here is pure and stable over releases: a changed
rule makes another graph.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

FILE_PREFIX = "file:"
_KEYED_PREFIX = "KEY:"
_ESCAPED = re.compile(r"\\(\\|x[0-9a-f]{2})")
_PARTIAL = "+"
"""Stands in the fingerprint of a document before what tells of its unread passages; others are hexadecimal."""
KEY_SEPARATOR = "\x1f"
"""Stands between the parts of a relation's key."""
VERSION_SUFFIX = f"{KEY_SEPARATOR}next"
"""Ends the id of what belongs to a document's next version only."""
_REMEMBERED_NAMES = 50_000
"""A corpus names the same things again and again, and each is looked at several times."""


def escape_path(path: bytes) -> str:
    r"""Spell a relative POSIX path as text, one to one.

    Names stay as they are on disk (no Unicode normalisation: both forms of é may lie in one
    folder). Bytes that are not UTF-8 and control characters become ``\xff``, a backslash ``\\``.
    """
    first_control, delete = 0x20, 0x7F
    first_escaped, last_escaped = 0xDC80, 0xDCFF  # how Python spells bytes that are not UTF-8
    out: list[str] = []
    for char in path.decode("utf-8", "surrogateescape"):
        code = ord(char)
        if char == "\\":
            out.append("\\\\")
        elif code < first_control or code == delete:
            out.append(f"\\x{code:02x}")
        elif first_escaped <= code <= last_escaped:
            out.append(f"\\x{code - 0xDC00:02x}")
        else:
            out.append(char)
    return "".join(out)


def unescape_path(text: str) -> bytes:
    """Give the bytes back that `escape_path` spelled."""
    parts: list[bytes] = []
    position = 0
    for match in _ESCAPED.finditer(text):
        parts.append(text[position : match.start()].encode("utf-8"))
        body = match.group(1)
        parts.append(b"\\" if body == "\\" else bytes([int(body[1:], 16)]))
        position = match.end()
    parts.append(text[position:].encode("utf-8"))
    return b"".join(parts)


def file_document_id(relative_path: str) -> str:
    """Name the document of a file by its (escaped) path relative to the files root."""
    return FILE_PREFIX + relative_path


def next_version(document_id: str) -> str:
    """Name the node under which a document's next version waits; no document has such an id."""
    return document_id + VERSION_SUFFIX


def past_version(document_id: str) -> str:
    """Name the node of a document that has been replaced or removed, until its passages are gone."""
    return f"{document_id}{KEY_SEPARATOR}past"


def document_of(node_id: str) -> str:
    """Name the document that a node stands for: itself, or the one whose next or past version it is."""
    return node_id.partition(KEY_SEPARATOR)[0]


def content_hash(text: str) -> str:
    """Hash a document's text: SHA-256 hex, the GraphRAG SDK's `content_hash`."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def bytes_hash(data: bytes) -> str:
    """Hash a file's bytes: SHA-256 hex."""
    return hashlib.sha256(data).hexdigest()


def fingerprint(parts: Iterable[str]) -> str:
    """Hash settings or other ordered text parts to 32 hex digits."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return digest.hexdigest()[:32]


def chunk_id(document_id: str, text: str, occurrence: int) -> str:
    """Name a chunk by document, text and how many equal chunks came before it.

    An unchanged passage keeps its id, vector and extraction over an update, wherever it moves to.
    """
    return fingerprint((document_id, str(occurrence), text))


@lru_cache(maxsize=_REMEMBERED_NAMES)
def normalise_name(name: str) -> str:
    """Fold a name for identity: NFC, case, white space. Nothing else is folded here."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


@lru_cache(maxsize=_REMEMBERED_NAMES)
def entity_id(name: str, entity_type: str) -> str:
    """Name an entity, as in `acme corp__organization`; an empty name gives an empty id."""
    normal = normalise_name(name)
    return f"{normal}__{' '.join(entity_type.casefold().split())}" if normal else ""


def keyed_entity_id(key: str, label: str) -> str:
    """Name the entity of a table's row, as in `KEY:Person:7`; no name gives such an id, as names are folded."""
    return f"{_KEYED_PREFIX}{label}:{key}"


def key_of(identity: str) -> str:
    """Give the key of a keyed entity's id; '' where it is none."""
    return identity.split(":", 2)[2] if identity.startswith(_KEYED_PREFIX) else ""


def relation_key(source: str, rel_type: str, target: str) -> str:
    """Name a relation by its two entity ids and its type, for the pending list."""
    return KEY_SEPARATOR.join((source, rel_type, target))


def split_relation_key(key: str) -> tuple[str, str, str]:
    """Give the source, type and target back that `relation_key` joined."""
    source, rel_type, target = key.split(KEY_SEPARATOR)
    return source, rel_type, target


def mark_partial(made_with: str, unread: Iterable[str]) -> str:
    """Give the fingerprint of a document some of whose passages could not be read; `unread` names these."""
    names = sorted(unread)
    return f"{made_with}{_PARTIAL}{len(names)}.{fingerprint(names)[:16]}" if names else made_with


def split_partial(marked: str) -> tuple[str, int]:
    """Give what a document was made with, and how many of its passages could not be read."""
    made_with, _, unread = marked.partition(_PARTIAL)
    return made_with, int(unread.partition(".")[0] or 0)


def artifact_key(kind: str, parts: Iterable[str]) -> str:
    """Name a stage's result by what it was made of, as in `chunk/0123…`: equal inputs, equal key.

    `kind` is the stage's word in lower case; `parts` are the input's hash and every fingerprint
    that the result depends on, in a fixed order.
    """
    return f"{kind}/{fingerprint(parts)}"
