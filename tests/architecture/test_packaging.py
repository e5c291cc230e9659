"""The wheel holds the four packages and their data, and nothing else."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_wheel_holds_the_four_packages_and_their_data(tmp_path):
    subprocess.run(
        [
            sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps",
            "--no-build-isolation", "--wheel-dir", str(tmp_path), str(ROOT),
        ],
        check=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"pipeline", "scheduler", "tasks", "workers"}
    assert "scheduler/lua/take.lua" in names
    assert any(name.endswith("tokenizer.json") for name in names)
