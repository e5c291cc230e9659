"""The program as a whole: help, usage errors, exit codes, and that its pages tell all of it."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
import structlog
from kombu.exceptions import OperationalError
from pydantic import ValidationError

from pipeline.errors import GraphMissing, GraphUnavailable
from scheduler.errors import RunNotFound
from workers.cli import main
from workers.cli.entries import list_entries, render_env, render_markdown
from workers.cli.exits import MEANINGS, ExitCode, Interrupted, describe_error
from workers.cli.program import build_program, run
from workers.embedded import StackLost
from workers.settings import Settings

ROOT = Path(__file__).parents[3]
HEAVY = ("rich", "pydantic_settings", "celery", "redis", "litellm", "spacy", "onnxruntime", "falkordb", "structlog")


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """Take back what `run` does to the logging of the process, which is its own in earnest."""

    def list_loggers() -> list[logging.Logger]:
        known = logging.root.manager.loggerDict.values()
        return [logging.root, *(logger for logger in known if isinstance(logger, logging.Logger))]

    before = {logger: (logger.level, logger.propagate, list(logger.handlers)) for logger in list_loggers()}
    yield
    for logger in list_loggers():
        level, logger.propagate, logger.handlers[:] = before.get(logger, (logging.NOTSET, True, []))
        logger.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def empty_folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def options_of_all_commands() -> Iterator[tuple[str, str]]:
    from typer.main import get_command

    program = get_command(build_program())
    for parameter in program.params:
        for option in parameter.opts:
            yield "", option
    groups = [(name, group) for name, group in program.commands.items() if hasattr(group, "commands")]
    nested = {f"{name} {of}": command for name, group in groups for of, command in group.commands.items()}
    for name, command in (program.commands | nested).items():
        yield name, f"graphmill {name}"
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                yield name, option


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom workers.cli.program import run\nstatus = run(['ingest', '--help'])\n"
        f"print(status, sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stderr == "0 []\n"


@pytest.mark.parametrize(
    ("begin", "unwanted"),
    [
        # The user waits for all that is loaded before servers and workers start.
        (
            "import workers.running, workers.parts as parts, workers.settings as s; parts.check_parts(s.Settings())",
            ("celery", "falkordb", "litellm", "numpy", "onnxruntime", "pypdf", "spacy", "workers.resources"),
        ),
        ("import workers.client, workers.app", ("litellm", "numpy", "onnxruntime", "pypdf", "spacy")),
        (
            "import workers.worker, workers.resources",
            ("flower", "litellm", "onnxruntime", "prompt_toolkit", "pypdf", "spacy"),
        ),
    ],
    ids=["before workers start", "client", "worker"],
)
def test_nothing_is_loaded_that_may_not_be_needed(begin, unwanted) -> None:
    code = f"import sys\n{begin}\nprint(sorted(set({unwanted!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"


def test_help_lists_every_exit_status(capsys) -> None:
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    for code, meaning in MEANINGS.items():
        assert f"{code.value:>3}  {meaning}" in text
    assert MEANINGS.keys() == set(ExitCode)


@pytest.mark.parametrize("command", sorted({name for name, _ in options_of_all_commands() if name}))
def test_each_command_has_help_with_an_example_of_itself(command, capsys) -> None:
    assert run([*command.split(), "--help"]) == 0
    assert f"Example: graphmill {command}" in capsys.readouterr().out


def test_the_page_names_every_command_option_and_exit_status() -> None:
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    sections = page.split("\n### ")
    shared = sections[0][sections[0].index("## Commands") :]
    missing = []
    for name, option in options_of_all_commands():
        section = next(text for text in sections if text.startswith(f"`graphmill {name}")) if name else page
        if option not in section + shared:
            missing.append(f"{name} {option}")
    assert missing == []
    for code in ExitCode:
        assert f"| {code.value} |" in page


def test_pages_of_settings_agree_with_the_settings() -> None:
    entries = list_entries(Settings())
    assert (ROOT / "ops" / "env" / "example.env").read_text("utf-8") == render_env(entries)
    assert (ROOT / "docs" / "settings.md").read_text("utf-8") == render_markdown(entries)


def test_the_file_of_all_defaults_changes_nothing_when_it_is_used(monkeypatch) -> None:
    for line in (ROOT / "ops" / "env" / "example.env").read_text("utf-8").splitlines():
        name, separator, value = line.removeprefix("#").partition("=")
        if separator and value and not name.startswith(" "):
            monkeypatch.setenv(name, value)
    used = Settings()
    monkeypatch.undo()
    assert used == Settings()


def test_a_command_whose_output_is_closed_still_runs() -> None:
    code = "import sys\nsys.stdout = None\nfrom workers.cli.program import prepare_process, run\nprepare_process()\n"
    code += "sys.exit(run(['settings']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_typo_in_a_command_suggests_the_near_one(capsys) -> None:
    assert run(["ingst"]) == ExitCode.USAGE
    assert "Did you mean 'ingest'" in capsys.readouterr().err


def test_a_usage_error_is_json_on_request(capsys) -> None:
    assert run(["runs", "--limit", "many", "--json"]) == ExitCode.USAGE
    said = capsys.readouterr()
    assert json.loads(said.out)["error"] == "usage_error"
    assert "--limit" in said.err
    assert said.err.count("\n") == 1


def test_an_unknown_role_is_refused_and_the_known_ones_are_named(capsys) -> None:
    assert run(["worker", "chief"]) == ExitCode.USAGE
    assert "finalize" in capsys.readouterr().err


def test_a_wrong_setting_is_named_by_its_variable_with_what_was_given(monkeypatch, capsys) -> None:
    monkeypatch.setenv("GRAPHMILL_CHUNK__MAX_TOKENS", "3")
    monkeypatch.setenv("LOG_LEVEL", "WARNING")
    assert run(["settings"]) == ExitCode.USAGE
    said = capsys.readouterr().err
    assert "GRAPHMILL_CHUNK__MAX_TOKENS" in said
    assert "'3'" in said


@pytest.mark.parametrize("name", ["GRAPHMILL_LEASE_SECONDS", "GRAPHMILL_KEEP_RUNS_DAYS"])
def test_a_time_without_end_is_a_wrong_setting(name, monkeypatch, capsys) -> None:
    monkeypatch.setenv(name, "inf")
    assert run(["settings"]) == ExitCode.USAGE
    assert f"{name}: Input should be a finite number" in capsys.readouterr().err


def test_an_unknown_log_level_is_a_wrong_setting(monkeypatch, capsys) -> None:
    monkeypatch.setenv("LOG_LEVEL", "loud")
    assert run(["settings"]) == ExitCode.USAGE
    assert "LOG_LEVEL" in capsys.readouterr().err


def test_settings_mask_passwords_and_tell_their_source(monkeypatch, capsys) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://user:hunter2@cache.example:6379/3")
    assert run(["settings", "--json", "--data-dir", "elsewhere"]) == 0
    said = capsys.readouterr().out
    assert "hunter2" not in said
    found = {entry["name"]: (entry["value"], entry["source"]) for entry in json.loads(said)}
    assert found["REDIS_URL"] == ("redis://user:***@cache.example:6379/3", "environment")
    assert found["GRAPHMILL_DATA_DIR"] == ("elsewhere", "flag")
    assert found["GRAPHMILL_CONCURRENCY"] == ("2", "default")


def test_ingest_names_a_missing_path_and_starts_nothing(empty_folder, capsys) -> None:
    assert run(["ingest", "nowhere"]) == ExitCode.USAGE
    assert "nowhere does not exist" in capsys.readouterr().err
    assert list(empty_folder.iterdir()) == []


def test_ingest_of_a_path_outside_the_root_is_refused(empty_folder, capsys) -> None:
    (empty_folder / "in").mkdir()
    (empty_folder / "out.txt").write_text("text", encoding="utf-8")
    assert run(["ingest", "out.txt", "--root", "in"]) == ExitCode.USAGE
    assert "outside the files root" in capsys.readouterr().err


def test_ingest_of_an_empty_folder_says_so_and_starts_nothing(empty_folder, capsys) -> None:
    assert run(["ingest", "."]) == ExitCode.OK
    assert "No file was found" in capsys.readouterr().out
    assert list(empty_folder.iterdir()) == []


def test_a_dry_run_of_a_sync_needs_no_data_and_makes_none(empty_folder, capsys) -> None:
    (empty_folder / "a.txt").write_text("text", encoding="utf-8")
    assert run(["sync", ".", "--dry-run", "--json"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["added"] == ["a.txt"]
    assert [path.name for path in empty_folder.iterdir()] == ["a.txt"]


def test_a_folder_that_is_not_there_is_neither_synced_nor_watched(empty_folder, capsys) -> None:
    for command in (["sync", "nowhere", "--dry-run"], ["watch", "nowhere"]):
        assert run(command) == ExitCode.USAGE
        assert "does not exist" in capsys.readouterr().err
    assert list(empty_folder.iterdir()) == []


@pytest.mark.parametrize("command", [["runs"], ["status"]])
def test_reading_a_new_data_folder_shows_nothing_and_makes_nothing(command, empty_folder, capsys) -> None:
    assert run(command) == ExitCode.OK
    assert "There is no data" in capsys.readouterr().err
    assert list(empty_folder.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [
        ["resume", "R"],
        ["failures", "R"],
        ["status", "R"],
        ["ask", "Who?"],
        ["finalize"],
        ["delete", "a.md"],
        ["drop", "--graph", "kb"],
        ["reextract", "--all"],
    ],
)
def test_what_needs_data_refuses_a_new_data_folder(command, empty_folder, capsys) -> None:
    assert run([*command, "--json"]) == ExitCode.USAGE
    assert json.loads(capsys.readouterr().out)["error"] == "nothing_stored"
    assert list(empty_folder.iterdir()) == []


def test_check_without_a_question_before_asks_for_a_session(empty_folder, capsys) -> None:
    assert run(["check", "It is so [1]."]) == ExitCode.USAGE
    assert "--session" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["worker", "all"], ["flower"]])
def test_without_servers_worker_and_flower_say_how_to_start_some(command, empty_folder, capsys) -> None:
    assert run(command) == ExitCode.UNREACHABLE
    assert "graphmill up" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["runs"], ["health"], ["ask", "Who?"], ["health", "--role", "query"]])
def test_an_unreachable_redis_is_one_line_without_its_password(command, empty_folder, monkeypatch, capsys) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://:hunter2@127.0.0.1:1/0")
    assert run([*command, "--json"]) == ExitCode.UNREACHABLE
    said = capsys.readouterr()
    assert "127.0.0.1:1" in said.err
    assert "hunter2" not in said.err + said.out
    assert said.err.count("\n") == 1
    assert json.loads(said.out)["error"] == "ledger_unavailable"


def test_an_address_without_scheme_is_a_wrong_setting(empty_folder, monkeypatch, capsys) -> None:
    monkeypatch.setenv("REDIS_URL", "cache.example:6379")
    assert run(["runs"]) == ExitCode.USAGE
    assert "REDIS_URL" in capsys.readouterr().err


def test_up_refuses_a_configured_cluster(empty_folder, monkeypatch, capsys) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    assert run(["up"]) == ExitCode.USAGE
    assert "graphmill worker all" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (KeyboardInterrupt(), ExitCode.INTERRUPTED, "interrupted"),
        (Interrupted("resume it"), ExitCode.INTERRUPTED, "interrupted"),
        (RunNotFound("no such run"), ExitCode.USAGE, "run_not_found"),
        (GraphMissing("there is no graph 'x' on the server"), ExitCode.USAGE, "graph_missing"),
        (GraphUnavailable("down"), ExitCode.UNREACHABLE, "graph_unavailable"),
        (StackLost("gone"), ExitCode.UNREACHABLE, "stack_lost"),
        (redis.ConnectionError("refused"), ExitCode.UNREACHABLE, "redis_unavailable"),
        (redis.exceptions.OutOfMemoryError("command not allowed"), ExitCode.UNREACHABLE, "redis_full"),
        (OperationalError("refused"), ExitCode.UNREACHABLE, "broker_unavailable"),
        (ZeroDivisionError("by zero"), ExitCode.FAULT, "internal_error"),
    ],
)
def test_errors_become_an_exit_status_and_a_code(error, status, code) -> None:
    failure = describe_error(error)
    assert (failure.status, failure.code) == (status, code)
    assert "\n" not in failure.message


def test_a_rule_between_settings_is_told_without_its_python_name() -> None:
    with pytest.raises(ValidationError) as caught:
        Settings(soft_time_limit=700)
    assert describe_error(caught.value).message.startswith("Wrong settings. time_limit must be larger")


def test_a_ctrl_c_while_the_program_is_loaded_is_no_traceback(monkeypatch, capsys):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("workers.cli.program.prepare_process", interrupt)
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "Interrupted.\n"
