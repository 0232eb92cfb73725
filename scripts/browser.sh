#!/usr/bin/env bash
# See to it that there is a Chromium for the browser tests and the screenshots: Debian's own, no other download.
# Does nothing when one is there. Usage: scripts/browser.sh
set -euo pipefail

command -v chromium >/dev/null && exit 0

explain() {
    echo "The browser tests need Chromium, and $1." >&2
    echo "Install it by hand (Debian: sudo apt-get install chromium), or the tests in a browser are skipped." >&2
    exit 0
}

command -v apt-get >/dev/null || explain "this system has no apt-get to install it with"
[[ $(id -u) == 0 ]] || explain "only root can install it"

echo "Installing Debian's chromium"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update -qq && apt-get install -qq -y chromium; } >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    explain "apt-get could not install it"
fi
