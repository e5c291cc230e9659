#!/bin/sh
# Print a Python that graphmill runs on (3.12 or 3.13), from PATH, pyenv or uv; else say how to get one.
set -u

fits() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 12) <= sys.version_info[:2] < (3, 14))' >/dev/null 2>&1
}

for name in python3.12 python3.13 python3 python; do
    path=$(command -v "$name" 2>/dev/null) || continue
    if fits "$path"; then echo "$path"; exit 0; fi
done
for path in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[23]*/bin/python; do
    if [ -x "$path" ] && fits "$path"; then echo "$path"; exit 0; fi
done
if command -v uv >/dev/null 2>&1; then
    path=$(uv python find '>=3.12,<3.14' 2>/dev/null) || path=
    if [ -n "$path" ] && fits "$path"; then echo "$path"; exit 0; fi
fi
echo "graphmill needs Python 3.12 or 3.13 with venv, and found none on PATH, in pyenv or in uv." >&2
echo "Fix: pyenv install 3.12   (or: uv python install 3.12, or: apt-get install python3.12 python3.12-venv)" >&2
exit 1
