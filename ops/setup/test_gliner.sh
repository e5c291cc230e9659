#!/bin/sh
# GLiNER's tests, in an environment of their own: torch is several gigabytes, so the usual one is spared it.
set -eu

environment=.venv/gliner
if ! "$environment/bin/python" -c 'import gliner2, torch, pytest' 2>/dev/null; then
    echo "Installing graphmill[gliner] into $environment (6 GB, five minutes) ..."
    python=$(sh ops/setup/find_python.sh)
    "$python" -m venv --clear "$environment"
    "$environment/bin/python" -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/dev.txt
    "$environment/bin/python" -m pip install -qq --disable-pip-version-check --no-build-isolation -e '.[gliner]'
fi
# No hub is asked: the tests make their models.
HF_HUB_OFFLINE=1 "$environment/bin/python" -m pytest -m gliner tests/service/test_gliner.py
