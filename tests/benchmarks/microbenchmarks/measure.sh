#!/usr/bin/env bash
# Builds and runs the microbenchmarks on the machine's GPU.  Usage: measure.sh OUTPUT_FOLDER
# Needs nvcc and ncu.  Leaves device.txt and per program a cubin, and its figures: JSON of those that read a clock, Nsight
# Compute's as CSV of the others.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
mkdir -p "$out"
arch=${ARCH:-sm_90}
metrics=$(python3 "$here/collect.py" --metrics)
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
compile() {
  nvcc -O3 -arch="$arch" -o "$build/$1" "$here/$1.cu"
  nvcc -O3 -arch="$arch" -cubin -o "$out/$1.cubin" "$here/$1.cu"
}
profile() {  # LOG METRICS PROGRAM [ARGUMENT ...]
  ncu --clock-control none --csv --page raw --metrics "$2" --log-file "$1" "$build/$3" "${@:4}" > /dev/null
}
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem --format=csv,noheader | tee "$out/device.txt"
nvcc --version | tail -2 | tee -a "$out/device.txt"
ncu --version | tail -1 | tee -a "$out/device.txt"
for name in latency pipes memory mixed spread together beside fans; do
  compile $name
  time "$build/$name" > "$out/$name.json"
done
compile slots
python3 "$here/slots.py" "$out/slots.cubin" "$build/pack"
"$build/slots" "$build/pack" > "$out/slots.json"
compile phases
ncu --clock-control none --metrics sm__cycles_elapsed.max --log-file "$build/phases.log" "$build/phases" > "$out/phases.json"
for name in cold loops stores loaded shared ends again counted short naive rowwise kept crowded wraps stays busy same parts constants across starts bands lanes columns turns bodies sent calls large anywhere atoms meets indexed targets rounds strided locals behind validation unseen reductions; do
  compile $name
  time profile "$out/$name.csv" "$metrics" $name
done
# How much the hardware's own times differ.
for run in 1 2; do profile "$out/short.again$run.csv" sm__cycles_elapsed.max short; done
for run in 1 2 3; do profile "$out/rounds.again$run.csv" sm__cycles_elapsed.max rounds; done
profile "$out/naive.again1.csv" sm__cycles_elapsed.max naive
profile "$out/repeat1.csv" sm__cycles_elapsed.max reductions 5
profile "$out/repeat2.csv" sm__cycles_elapsed.max reductions 40 24
if [ -n "${SAMPLES:-}" ]; then  # stall samples of each instruction
  for name in loops stores loaded validation unseen reductions; do
    ncu --clock-control none --set full --warp-sampling-interval 0 -f -o "$build/$name" "$build/$name" > /dev/null
    ncu --import "$build/$name.ncu-rep" --page source --csv > "$out/$name.samples.csv"
  done
fi
