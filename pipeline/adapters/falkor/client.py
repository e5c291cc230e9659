"""The one way to a graph: builds the client, spells parameters, and sorts the server's errors."""

import re
from collections.abc import Sequence
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import falkordb
import orjson
import redis.exceptions

from pipeline.errors import GraphMissing, GraphRejected, GraphTimeout, GraphUnavailable

# Above the server's TIMEOUT_MAX, so that the server decides first what becomes of a query.
_SOCKET_TIMEOUT_SECONDS = 60.0
_CONNECT_TIMEOUT_SECONDS = 5
_HEALTH_CHECK_SECONDS = 20
_DISK_WAIT_MILLISECONDS = 3_000
_MARKER = "graphmill:written"
_DEFAULT_PORT = 6379
_TLS_SCHEMES = frozenset({"rediss", "falkors"})
_PLAIN_SCHEMES = frozenset({"redis", "falkor"})
_TLS_OPTIONS = frozenset({"ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs"})

# Refusals that end by themselves: the server is loading, full, busy, or not (yet) the master. Only a
# message's beginning tells: further on it may quote the query, and so the user's text.
_TRANSIENT = re.compile(r"(?:BUSY|MISCONF|NOREPLICAS)\b|Max pending queries")
_TIMED_OUT = "Query timed out"
_TRANSIENT_TYPES = (
    redis.exceptions.ConnectionError,
    redis.exceptions.TimeoutError,
    redis.exceptions.OutOfMemoryError,
    redis.exceptions.ReadOnlyError,
    redis.exceptions.ClusterDownError,
    redis.exceptions.TryAgainError,
)
_MISSING_KEY = "empty key"
_NO_MODULE = "unknown command"

# What stands behind a backslash in JSON text, one escape at a time.
_ESCAPE = re.compile(r"\\(?:u00([01][0-9a-f])|.)")

Rows = Sequence[Any]


def connect(
    url: str, graph: str, *, timeout: float = _SOCKET_TIMEOUT_SECONDS, read_timeout: float | None = None
) -> "FalkorGraph":
    """Make a client for one graph; nothing is sent before its first query.

    `url` is redis:// or falkor:// (rediss:// and falkors:// with TLS, whose options
    ssl_ca_certs, ssl_certfile, ssl_keyfile and ssl_cert_reqs may follow in the query part), or
    unix:///path/to/socket. A server that does not answer for `timeout` seconds is unavailable. It ends a read
    after `read_timeout` seconds, which must be less; None: after its own TIMEOUT_DEFAULT.
    Raises `ValueError` with the reason for any other address.
    """
    return FalkorGraph(_parse_url(url), graph, timeout, read_timeout)


class FalkorGraph:
    """One named graph on one server. Raises only the pipeline's errors, and never tries again by itself."""

    def __init__(self, address: dict[str, Any], name: str, timeout: float, read_timeout: float | None = None) -> None:
        self._address = address
        self._timeout = timeout
        # No limit at all is spelled 0.
        self._read_timeout_ms = None if read_timeout is None else max(1, int(read_timeout * 1000))
        self.name = name
        self._made: Any = None
        self._making = Lock()

    @property
    def _client(self) -> Any:
        # One for all threads: a second one would close its connections once it is dropped, and with
        # them a pipeline that was begun on it.
        with self._making:
            if self._made is None:
                # The plain constructor waits for ever on a stalled server, and from_url gives up before
                # the server does: so everything is set here.
                self._made = falkordb.FalkorDB(
                    socket_timeout=self._timeout,
                    socket_connect_timeout=min(_CONNECT_TIMEOUT_SECONDS, self._timeout),
                    socket_keepalive=True,
                    health_check_interval=_HEALTH_CHECK_SECONDS,
                    **self._address,
                )
            return self._made

    def names(self) -> list[str]:
        """List the graphs of the server; raises `GraphUnavailable`."""
        try:
            return sorted(self._client.list_graphs())
        except redis.exceptions.RedisError as error:
            raise self._sort(error) from error

    def query(self, cypher: str, rows: Rows | None = None, **parameters: Any) -> list[list[Any]]:
        """Run a query that may write; gives the result's rows.

        Parameters are JSON-like values or float32 arrays, never mappings; `rows` becomes `$rows`.
        Raises `GraphUnavailable`, `GraphTimeout` among them, `GraphRejected`.
        """
        return self._rows(self._run(cypher, rows, parameters, read_only=False))

    def ro_query(self, cypher: str, rows: Rows | None = None, **parameters: Any) -> list[list[Any]]:
        """Run a query that the server refuses to let write; gives the result's rows.

        Raises `GraphMissing` where there is no such graph, `GraphUnavailable`, `GraphTimeout` among them,
        `GraphRejected`.
        """
        return self._rows(self._run(cypher, rows, parameters, read_only=True, timeout_ms=self._read_timeout_ms))

    def ro_table(self, cypher: str, timeout_ms: int) -> tuple[list[str], list[list[Any]]]:
        """Run a query without parameters as `ro_query` does, within a time; gives its columns' names, and rows.

        The server looks at the time between two rows only, so a query may take some times as long. Values are the
        client's: nodes, edges and paths are objects. Raises `GraphTimeout`, and as `ro_query` does.
        """
        found = self._run(cypher, None, {}, read_only=True, timeout_ms=timeout_ms)
        return [str(name) for _, name in found.header], self._rows(found)

    def delete(self) -> None:
        """Remove the graph; raises `GraphMissing` where there is none, `GraphUnavailable`."""
        self._execute("GRAPH.DELETE", self.name)

    def create_unique_constraint(self, label: str, attribute: str) -> None:
        """Ask for a unique constraint on nodes; it becomes operational later. Idempotent."""
        try:
            self._execute(
                "GRAPH.CONSTRAINT", "CREATE", self.name, "UNIQUE", "NODE", label, "PROPERTIES", "1", attribute
            )
        except GraphRejected as error:
            if "already exists" not in str(error):
                raise

    def wait_for_disk(self) -> None:
        """Wait until the append-only file holds all that any client has written; at once where there is none.

        Raises `GraphUnavailable` where the disk is behind.
        """
        # A write of this connection's own comes last, as WAITAOF waits for no other's.
        commands = [("SET", _MARKER, "1", "PX", "1"), ("WAITAOF", "1", "0", str(_DISK_WAIT_MILLISECONDS))]
        try:
            with self._client.connection.pipeline(transaction=False) as pipe:
                for command in commands:
                    pipe.execute_command(*command)
                synced = pipe.execute()[-1]
        except redis.exceptions.RedisError as error:
            if "appendonly is disabled" in str(error):
                return
            raise self._sort(error) from error
        if not synced[0]:
            raise GraphUnavailable("the graph server's disk is behind: what was written may still be lost in a crash")

    def close(self) -> None:
        """Close the connections; a later query opens new ones."""
        with self._making:
            if self._made is not None:
                self._made.connection.close()
                self._made = None

    def _run(
        self,
        cypher: str,
        rows: Rows | None,
        parameters: dict[str, Any],
        *,
        read_only: bool,
        timeout_ms: int | None = None,  # of reads only
    ) -> Any:
        if rows is not None:
            parameters["rows"] = rows
        text = _with_parameters(cypher, parameters)
        try:
            graph = self._client.select_graph(self.name)
            return graph.ro_query(text, timeout=timeout_ms) if read_only else graph.query(text)
        except redis.exceptions.RedisError as error:
            raise self._sort(error) from error

    @staticmethod
    def _rows(result: Any) -> list[list[Any]]:
        rows: list[list[Any]] = result.result_set
        return rows

    def _execute(self, *command: str) -> Any:
        try:
            return self._client.execute_command(*command)
        except redis.exceptions.RedisError as error:
            raise self._sort(error) from error

    def _sort(self, error: redis.exceptions.RedisError) -> Exception:
        """Turn the client's error into the pipeline's, by who must act on it."""
        message = str(error)
        if isinstance(error, redis.exceptions.AuthenticationError):
            return GraphUnavailable(f"the graph server refuses the login, check user and password: {message}")
        if message.startswith(_TIMED_OUT):
            return GraphTimeout(f"a query took longer than it may: {message}")
        if isinstance(error, _TRANSIENT_TYPES) or _TRANSIENT.match(message):
            return GraphUnavailable(f"the graph server does not answer, or refuses for now: {message}")
        if _MISSING_KEY in message:
            return GraphMissing(f"there is no graph {self.name!r} on the server")
        if message.startswith(_NO_MODULE):
            return GraphRejected(f"the server has no FalkorDB module loaded: {message}")
        return GraphRejected(f"the graph server refuses the query: {message}")


def spell_json(value: Any) -> bytes:
    """Spell a value as JSON; raises `GraphRejected` where JSON has no word for it."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
    except orjson.JSONEncodeError as error:
        raise GraphRejected(f"a value cannot be sent to the graph: {error}") from error


def _with_parameters(cypher: str, parameters: dict[str, Any]) -> str:
    if not parameters:
        return cypher
    header = " ".join(f"{name}={_literal(value)}" for name, value in parameters.items())
    return f"CYPHER {header} {cypher}"


def _literal(value: Any) -> str:
    r"""Spell a value as a Cypher literal: JSON, but for control characters.

    The engine reads JSON's lists, numbers and strings, but takes \u001f for six characters, and a
    raw control character for itself. NUL would end the query, so it is left out.
    """
    text = spell_json(value).decode()
    return _ESCAPE.sub(_unescape_control, text) if "\\u00" in text else text


def _unescape_control(escape: re.Match[str]) -> str:
    code = escape.group(1)
    return escape.group() if code is None else chr(int(code, 16)).strip("\0")


def _parse_url(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    address: dict[str, Any] = {
        "username": unquote(parts.username) if parts.username else None,
        "password": unquote(parts.password) if parts.password else None,
    }
    if parts.scheme == "unix":
        return address | {"unix_socket_path": unquote(parts.path)}
    if parts.scheme not in _TLS_SCHEMES | _PLAIN_SCHEMES:
        raise ValueError(f"a graph server's address starts with redis:// or falkor://, not {parts.scheme!r}")
    if parts.path.strip("/") not in {"", "0"}:
        raise ValueError("graphs live in database 0 of their server: leave the number out of its address")
    if unknown := options.keys() - (_TLS_OPTIONS if parts.scheme in _TLS_SCHEMES else frozenset()):
        raise ValueError(f"unknown options in the graph server's address: {', '.join(sorted(unknown))}")
    address |= {"host": parts.hostname or "localhost", "port": parts.port or _DEFAULT_PORT}
    return address | {"ssl": parts.scheme in _TLS_SCHEMES, **options}
