#!/usr/bin/env bash
# Measures a real GPU: what doctor says, the full probe, the example kernels with their values compared and timed. Leaves one archive.
# docs/guide/boards.md is the manual. Nothing here needs a network or a CUDA toolkit; a bundle needs nothing but glibc, bash, tar, gzip and timeout.
set -uo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
device=0 simtlab='' out='' limit=470 bundle='' arch=sm_60 examples='' probe_options=() small=''

usage() {
  cat <<'TXT'
usage: tools/measure-gpu.sh [OPTIONS]                 measure; leaves simtlab-board-HOST-TIME.tar.gz
       tools/measure-gpu.sh --bundle DIR [OPTIONS]    make a folder to carry to a machine with a GPU: DIR/measure-gpu.sh measures there
  --simtlab PATH   a simtlab that is built already (else bin/simtlab of a bundle, else this source tree is built)
  --device N|UUID  the board (0)
  -o FILE          the archive
  --limit SECONDS  for all steps together (470)
  --quick          a quick probe and small kernels
  --arch sm_NN     what the kernels of a bundle are compiled for (sm_60); boards at least as new run them
TXT
}
die() { printf 'measure-gpu: %s\n' "$*" >&2; exit 2; }
need() { [ $# -ge 2 ] && [ -n "$2" ] || die "$1 has no value"; }

while [ $# -gt 0 ]; do
  case "$1" in
    --simtlab) need "$@"; simtlab=$(readlink -f "$2"); shift ;;
    --device) need "$@"; device=$2; shift ;;
    -o) need "$@"; out=$2; shift ;;
    --limit) need "$@"; limit=$2; shift ;;
    --bundle) need "$@"; bundle=$2; shift ;;
    --arch) need "$@"; arch=$2; shift ;;
    --quick) probe_options+=(--quick); small=--small ;;
    -h|--help) usage; exit 0 ;;
    *) usage >&2; die "what is '$1'?" ;;
  esac
  shift
done
case "$limit" in ''|*[!0-9]*) die "--limit takes seconds" ;; esac

# The kernels as PTX with their launch files. Needs clang 19; a bundle brings them.
make_examples() {
  local source
  python3 -B "$here/measure/launches.py" "$1" $small || return 1
  for source in "$here"/../examples/*.cu; do
    local name; name=$(basename "$source" .cu)
    [ -f "$1/$name.toml" ] || continue
    "$simtlab" build "$source" -ptx -O3 -arch="$arch" -o "$1/$name.ptx" || return 1
  done
}

build_simtlab() {
  local root=$here/..
  command -v cmake >/dev/null || { echo "no cmake here: give --simtlab PATH, or make a bundle elsewhere"; return 1; }
  local options=(-DSIMTLAB_TESTS=OFF -DSIMTLAB_BENCH=OFF)
  [ -f "$root/build/release/CMakeCache.txt" ] && options=()
  (cd "$root" && cmake --preset release "${options[@]+"${options[@]}"}" && cmake --build --preset release -j "$(nproc)" --target simtlab simtlab_programs)
}

make_bundle() {
  [ -e "$bundle" ] && die "$bundle is there already"
  mkdir -p "$bundle/bin" "$bundle/lib" "$bundle/share/simtlab" && cp "$simtlab" "$bundle/bin/simtlab.real" && cp -r "$here/../data" "$bundle/share/simtlab/data" && cp "$here/measure-gpu.sh" "$bundle/" || die "cannot write $bundle"
  # Its libraries but glibc's own, which belong to the machine.
  ldd "$simtlab" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | grep -Ev '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' | xargs -r cp -L -t "$bundle/lib"
  # Only simtlab itself is to find them.
  cat >"$bundle/bin/simtlab" <<'TXT'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH=$here/../lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/simtlab.real" "$@"
TXT
  chmod +x "$bundle/bin/simtlab"
  make_examples "$bundle/examples" || die "the examples did not compile"
  printf '%s\n' "$bundle is ready: copy it, then run measure-gpu.sh in it"
}

if [ -z "$simtlab" ] && [ -x "$here/bin/simtlab" ]; then
  simtlab=$here/bin/simtlab
fi
if [ -n "$bundle" ]; then
  [ -n "$simtlab" ] || { build_simtlab >&2 || die "simtlab could not be built"; simtlab=$here/../build/release/bin/simtlab; }
  make_bundle
  exit 0
fi

: "${out:=simtlab-board-$(uname -n)-$(date -u +%Y%m%dT%H%M%SZ).tar.gz}"
work=$(mktemp -d) || die "no temporary folder"
trap 'rm -rf "$work"' EXIT
result=$work/board
mkdir -p "$result/logs" "$result/examples" || die "no temporary folder"
printf 'step\tstatus\tseconds\n' >"$result/steps.tsv"
failed=0 first_failure=0

# step NAME SECONDS COMMAND...: at most so long and what is left of --limit; what it says goes into a log. It may fail: the next ones go on.
step() {
  local name=$1 most=$2 begin=$SECONDS left status; shift 2
  left=$((limit - SECONDS))
  [ "$left" -lt "$most" ] && most=$left
  if [ "$most" -le 0 ]; then
    echo "no time was left" >"$result/logs/$name.log"
    status=124
  else
    # -k: a driver may not let go of a process at once. INT first: simtlab then writes what it has.
    timeout -s INT -k 10 "$most" "$@" >"$result/logs/$name.log" 2>&1 </dev/null
    status=$?
  fi
  printf '%s\t%s\t%s\n' "$name" "$status" "$((SECONDS - begin))" >>"$result/steps.tsv"
  printf '  %-28s %s\n' "$name" "$([ $status -eq 0 ] && echo "ok, $((SECONDS - begin)) s" || echo "status $status: $(grep -m 1 -E 'error|no time' "$result/logs/$name.log" | cut -c 1-160)")"
  if [ $status -ne 0 ]; then
    failed=$((failed + 1))
    [ $first_failure -eq 0 ] && first_failure=$status
  fi
  return $status
}

export -f make_examples build_simtlab
export here simtlab arch small
if [ -z "$simtlab" ]; then
  # Building is not measuring: it has a time of its own.
  build_limit=$limit; limit=$((SECONDS + 3600))
  step build 3600 bash -c build_simtlab || { echo "measure-gpu: simtlab could not be built; its log follows" >&2; tail -n 20 "$result/logs/build.log" >&2; exit 1; }
  simtlab=$(readlink -f "$here/../build/release/bin/simtlab"); limit=$((SECONDS + build_limit))
fi
[ -x "$simtlab" ] || die "$simtlab is no program"

{ uname -a; cat /proc/driver/nvidia/version 2>/dev/null; grep -m 1 'model name' /proc/cpuinfo; date -u; } >"$result/machine.txt" 2>&1
command -v nvidia-smi >/dev/null && step nvidia-smi 20 nvidia-smi -q
step version 20 "$simtlab" version
step doctor 60 "$simtlab" doctor --device "$device" -o "$result/doctor.txt" --json="$result/doctor.json"
doctor=$?
# Every measured curve as well, where this simtlab writes them.
{ "$simtlab" probe --help-all || "$simtlab" probe --help; } 2>/dev/null | grep -q -- --curves && probe_options+=(--curves "$result/curves")
# What can't be measured is taken from the shipped device of the nearest generation and marked so: without it there would be no simulated twin.
case "$device" in *[!0-9]*) which=1 ;; *) which=$((device + 1)) ;; esac
capability=$(grep -o '"compute_capability": *"[0-9.]*"' "$result/doctor.json" 2>/dev/null | sed -n "${which}p" | tr -cd 0-9)
case "$capability" in
  '') base='' ;;
  2?) base=gtx480 ;;
  3?) base=k40 ;;
  5?) base=titanx-maxwell ;;
  6?) base=titanxp ;;
  70|72) base=v100 ;;
  7?) base=rtx2060 ;;
  8?) base=a100 ;;
  *) base=h100 ;;
esac
step probe 240 "$simtlab" probe --device "$device" ${base:+--base "$base"} "${probe_options[@]+"${probe_options[@]}"}" -o "$result/board.toml" --json="$result/probe.json"

examples=$here/examples
if [ ! -f "$examples/saxpy.ptx" ]; then
  examples=$work/examples
  step examples 120 bash -c 'make_examples "$0"' "$examples"
fi
for launch in "$examples"/*.toml; do
  name=$(basename "$launch" .toml)
  [ -f "$examples/$name.ptx" ] || continue
  step "run-$name" 60 "$simtlab" run "$examples/$name.ptx" --launch "$launch" --device "$device" --mode functional -o "$result/examples/$name.txt" --json="$result/examples/$name.json"
done
# The same on the simulated twin, as far as the time goes.
if [ -s "$result/board.toml" ]; then
  for launch in "$examples"/*.toml; do
    name=$(basename "$launch" .toml)
    [ -f "$examples/$name.ptx" ] && [ $((limit - SECONDS)) -gt 5 ] || continue
    step "twin-$name" 60 "$simtlab" run "$examples/$name.ptx" --launch "$launch" --device "$device" --gpu "$result/board.toml" -o "$result/examples/$name.twin.txt" --json="$result/examples/$name.twin.json"
  done
fi

# And the probe of the twin, beside the board's: what of the parameters the models give back.
if [ -s "$result/board.toml" ] && [ $((limit - SECONDS)) -gt 20 ]; then
  step twin-probe 120 "$simtlab" probe --gpu "$result/board.toml" --quick -o "$result/twin.toml" --json="$result/twin.json"
  [ -s "$result/twin.json" ] && step twin-compare 20 "$simtlab" probe --compare "$result/probe.json" "$result/twin.json" -o "$result/twin.txt" --json="$result/twin-compare.json"
fi

# One line a kernel: microseconds on the board, of an empty kernel, and of the twin.
value() { [ -s "$2" ] && sed -n "s/.*\"$1\": {\"value\": \([-+0-9.e]*\),.*/\1/p" "$2" | head -n 1; }
{
  printf 'kernel\tboard_ns\tempty_ns\ttwin_ns\ttwin_over_board\n'
  for json in "$result"/examples/*.json; do
    case "$json" in *.twin.json) continue ;; esac
    [ -s "$json" ] || continue
    twin=${json%.json}.twin.json
    printf '%s\t%s\t%s\t%s\t%s\n' "$(basename "$json" .json)" "$(value board.time "$json")" "$(value board.time.empty "$json")" "$(value gpu.time "$twin")" "$(value board.simulated_over_measured "$twin")"
  done
} >"$result/examples.tsv"

tar -czf "$out" -C "$work" board || die "cannot write $out"
printf '%s: %s\n' "$out" "$([ $failed -eq 0 ] && echo "every step ended well" || echo "$failed steps failed; their logs are in it")"
[ $doctor -eq 7 ] && exit 7
[ $failed -eq 0 ]
