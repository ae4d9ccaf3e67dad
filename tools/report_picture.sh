#!/usr/bin/env bash
# Makes docs/report.png, the picture of README.md: the HTML page of a run, by simtlab and a headless chromium.
# usage: tools/report_picture.sh [FOLDER OF SIMTLAB]   (default: build/release/bin)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
PATH=$(cd "${1:-$root/build/release/bin}" && pwd):$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/examples" "$work/"
cd "$work"   # so that the page names no folder of this machine
simtlab run examples/transpose_naive.cu --gpu h100 --lines --json=r.json -o report.txt -- 1024
simtlab report r.json --html=r.html
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=0.75 --window-size=1000,1500 \
  --screenshot="$work/page.png" "file://$work/r.html" 2>chromium.log ||
  { cat chromium.log >&2; exit 1; }
mv page.png "$root/docs/report.png"
