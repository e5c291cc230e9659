"""Addresses of servers as they may be shown."""

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
