"""What is known of a GLiNER model without loading it: whether it can be had, and whether it is still the same."""

import hashlib
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from pipeline.errors import ModelUnavailable

PACKAGE = "gliner2"
FIX = (
    "give a local folder in GRAPHMILL_GLINER__MODEL, or download it once on a machine that reaches a model hub "
    "and copy the folder"
)
# gliner2 alone only talks to its makers' service; reading here needs both.
_NEEDED = (PACKAGE, "torch", "transformers")
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
# A README beside them changes no result.
_DECISIVE = frozenset((".json", ".safetensors", ".bin", ".model", ".txt"))


def is_installed() -> bool:
    """Tell whether GLiNER's packages are there, without importing them."""
    return all(find_spec(name) for name in _NEEDED)


def check_model(name: str) -> None:
    """Raise `ModelUnavailable` for what can be seen at once: no packages, no such folder, no weights in it."""
    missing = [needed for needed in _NEEDED if not find_spec(needed)]
    if missing:
        raise ModelUnavailable(
            f"the extractor gliner needs {' and '.join(missing)}, not installed here; run: "
            "pip install 'graphmill[gliner]', or choose another extractor"
        )
    folder = find_folder(name)
    if folder is None:
        return
    if not folder.is_dir():
        raise ModelUnavailable(f"GLiNER model {name!r}: there is no such folder; {FIX}")
    if not (folder / "config.json").is_file() or not any((folder / weights).is_file() for weights in _WEIGHTS):
        raise ModelUnavailable(
            f"GLiNER model {name!r}: the folder lacks config.json or {' and '.join(_WEIGHTS)}; {FIX}"
        )


def find_folder(name: str) -> Path | None:
    """Give the folder that a model's name means, there or not; None where it names a model of a hub."""
    path = Path(name).expanduser()
    is_path = name.startswith(("/", ".", "~")) or "\\" in name or name.count("/") > 1
    return path if is_path or path.is_dir() else None


# Once in a process, as is loading: a folder that is changed takes effect when workers are started anew.
@cache
def identify_model(name: str) -> str:
    """Tell models apart: a folder by what its files hold, wherever it lies; a hub's model by its name.

    Weights are read as a whole, about a second for a gigabyte: training may have changed any of them.
    Raises `ModelUnavailable` where they cannot be read.
    """
    folder = find_folder(name)
    if folder is None:
        return name
    whole = hashlib.sha256()
    try:
        for path in sorted(path for path in folder.rglob("*") if path.suffix in _DECISIVE and path.is_file()):
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            whole.update(f"{path.relative_to(folder).as_posix()}\0{digest}\n".encode())
    except OSError as error:
        raise ModelUnavailable(f"GLiNER model {name!r} cannot be read: {error}") from error
    return whole.hexdigest()


def installed_version() -> str:
    """Give the version of the package that reads."""
    return version(PACKAGE)
