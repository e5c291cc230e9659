"""What keeps the code as the architecture says: contracts, sizes, shells, one place for the environment."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("pipeline", "scheduler", "tasks", "workers")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
LONGEST_MODULE, LONGEST_SHELL = 300, 15
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "misc"}


def test_the_import_contracts_hold():
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports"))], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_has_one_job_and_says_which(path):
    source = path.read_text("utf-8")
    assert len(source.splitlines()) <= LONGEST_MODULE
    assert ast.get_docstring(ast.parse(source)), "its first line says what it is for"
    assert path.stem not in FORBIDDEN_NAMES


@pytest.mark.parametrize("path", sorted((ROOT / "tasks").glob("*.py")), ids=lambda p: p.name)
def test_task_shells_hold_no_logic(path):
    tree = ast.parse(path.read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert [f.name for f in functions if f.end_lineno - f.lineno >= LONGEST_SHELL] == []


def test_no_task_replaces_itself_or_retries_by_celery():
    """A replaced canvas, a Celery retry, a countdown or an ETA would be a second authority beside the ledger."""
    calls = ("replace", "retry")
    words = ("countdown", "eta", "autoretry_for", "task_always_eager")
    for path in (ROOT / "tasks").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", "")
                assert name not in calls, f"{path.name}: {name}"
                assert not {k.arg for k in node.keywords} & set(words), path.name


def test_nothing_names_a_path_of_one_machine():
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    tracked = listing.stdout.splitlines()
    needles = ["/" + "root/", "/" + "work/", ".pyenv/" + "versions"]
    guilty = []
    for name in tracked:
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".yml", ".sh", ".env", ".conf", ".lua"} and path.is_file():
            text = path.read_text("utf-8", "replace")
            guilty += [(name, needle) for needle in needles if needle in text and name != "ops/setup/find_python.sh"]
    assert guilty == []
