#!/usr/bin/env bash
# Set up a venv from uv.lock with nothing at hand but Python >= 3.11 and its pip.
# Usage: scripts/bootstrap.sh VENV [uv sync options…]
# PYTHON=/path/to/python chooses the interpreter; otherwise the newest released one on PATH is taken.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

UV_VERSION=0.13.7
UV=.tools/bin/uv

# Prints "minor interpreter" of a usable Python, or fails. A version manager's shim may be on PATH and still not run,
# or stand for another program, so each candidate is run and asked for the interpreter behind it.
probe() {
    "$1" -I -c '
import sys
if sys.version_info < (3, 11) or sys.version_info.releaselevel != "final":
    raise SystemExit(1)
import ensurepip, venv
print(sys.version_info.minor, getattr(sys, "_base_executable", None) or sys.executable)
' 2>/dev/null </dev/null
}

candidates() {
    local folder
    local -a folders
    IFS=: read -ra folders <<<"$PATH"
    for folder in "${folders[@]}"; do
        compgen -G "${folder:-.}/python3*" | grep -E '/python3(\.[0-9]+)?$' || true
    done
}

newest_python() {
    local candidate
    candidates | while read -r candidate; do probe "$candidate" || true; done |
        sort --stable --numeric-sort --reverse --key=1,1 | head -n 1 | cut -d ' ' -f 2-
}

choose_python() {
    if [[ -n "${PYTHON:-}" ]]; then
        probe "$PYTHON" | cut -d ' ' -f 2- || true
    else
        newest_python
    fi
}

install_uv() {
    [[ "$("$UV" --version 2>/dev/null)" == "uv $UV_VERSION"* ]] && return
    echo "Installing uv $UV_VERSION into .tools"
    rm -rf .tools
    "$python" -m venv .tools
    .tools/bin/python -m pip --disable-pip-version-check install -qq --no-deps "uv==$UV_VERSION"
}

main() {
    local venv=$1 where="on PATH"
    [[ -n "${PYTHON:-}" ]] && where="at $PYTHON"
    shift
    python=$(choose_python)
    if [[ -z "$python" ]]; then
        echo "Belayer needs Python 3.11 or newer with venv and pip; found none $where." >&2
        echo "Install one (Debian: apt-get install python3 python3-venv) or name one: make setup PYTHON=/path/to/python3" >&2
        exit 1
    fi
    install_uv
    echo "Setting up $venv with $python"
    # An activated venv must not be taken for ours; bytecode is compiled once here rather than at each start.
    unset VIRTUAL_ENV
    UV_PYTHON=$python UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=$venv UV_COMPILE_BYTECODE=1 \
        "$UV" sync --frozen --quiet "$@"
}

main "$@"
