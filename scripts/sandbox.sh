#!/usr/bin/env bash
# See to it that there is a bubblewrap for the sandbox and its tests: Debian's own, no other download.
# Does nothing when one is there. Usage: scripts/sandbox.sh
set -euo pipefail

command -v bwrap >/dev/null && exit 0

explain() {
    echo "The sandbox is best with bubblewrap, and $1." >&2
    echo "Install it by hand (Debian: sudo apt-get install bubblewrap), or Landlock is used where the kernel has it," >&2
    echo "and the tests of bubblewrap are skipped." >&2
    exit 0
}

command -v apt-get >/dev/null || explain "this system has no apt-get to install it with"
[[ $(id -u) == 0 ]] || explain "only root can install it"

echo "Installing Debian's bubblewrap"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update -qq && apt-get install -qq -y bubblewrap; } >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    explain "apt-get could not install it"
fi
