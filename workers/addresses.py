"""Addresses of servers: as they may be shown, and as Redis clients read them."""

from urllib.parse import urlsplit, urlunsplit


def mask_url(url: str) -> str:
    """Give an address without its password."""
    try:
        parts = urlsplit(url)
        if parts.password is None:
            return url
        place = parts.netloc.rpartition("@")[2]
        return urlunsplit(parts._replace(netloc=f"{parts.username or ''}:***@{place}"))
    except ValueError:
        return "***"


def spell_for_redis(url: str) -> str:
    """Give a graph server's address as Redis clients know it: falkor:// is their scheme under another name."""
    return f"redis{url.removeprefix('falkor')}" if url.startswith(("falkor:", "falkors:")) else url
