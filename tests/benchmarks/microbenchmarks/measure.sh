#!/usr/bin/env bash
# Builds and runs the microbenchmarks on the machine's GPU.  Usage: measure.sh OUTPUT_FOLDER
# Needs nvcc and ncu.  Leaves latency.json, and per program a cubin and Nsight Compute's figures as CSV.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
arch=${ARCH:-sm_90}
stall=smsp__average_warps_issue_stalled
metrics=sm__cycles_elapsed.max,gpu__time_duration.sum,sm__cycles_active.avg,smsp__inst_executed.sum
metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active,sm__inst_executed.avg.per_cycle_active
metrics+=,smsp__warps_eligible.avg.per_cycle_active,smsp__issue_active.avg.pct_of_peak_sustained_active
metrics+=,l1tex__t_sector_hit_rate.pct,lts__t_sector_hit_rate.pct,dram__bytes_read.sum,dram__bytes_write.sum
metrics+=,l1tex__data_pipe_lsu_wavefronts.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,lts__t_sectors.sum
metrics+=,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics+=,launch__registers_per_thread
for reason in barrier long_scoreboard short_scoreboard wait not_selected selected branch_resolving math_pipe_throttle \
  mio_throttle lg_throttle drain membar no_instruction dispatch_stall misc imc_miss sleeping tex_throttle; do
  metrics+=,${stall}_${reason}_per_issue_active.ratio
done
build=$(mktemp -d)
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem --format=csv,noheader | tee "$out/device.txt"
nvcc --version | tail -2 | tee -a "$out/device.txt"
ncu --version | tail -1 | tee -a "$out/device.txt"
for name in latency pipes memory spread together; do
  nvcc -O3 -arch="$arch" -o "$build/$name" "$here/$name.cu"
  nvcc -O3 -arch="$arch" -cubin -o "$out/$name.cubin" "$here/$name.cu"
  time "$build/$name" > "$out/$name.json"
done
nvcc -O3 -arch="$arch" -o "$build/slots" "$here/slots.cu"
nvcc -O3 -arch="$arch" -cubin -o "$out/slots.cubin" "$here/slots.cu"
python3 "$here/slots.py" "$out/slots.cubin" "$build/pack"
"$build/slots" "$build/pack" > "$out/slots.json"
nvcc -O3 -arch="$arch" -o "$build/phases" "$here/phases.cu"
nvcc -O3 -arch="$arch" -cubin -o "$out/phases.cubin" "$here/phases.cu"
ncu --clock-control none --metrics sm__cycles_elapsed.max --log-file "$build/phases.log" "$build/phases" > "$out/phases.json"
for name in cold loops stores loaded validation unseen reductions; do
  nvcc -O3 -arch="$arch" -o "$build/$name" "$here/$name.cu"
  nvcc -O3 -arch="$arch" -cubin -o "$out/$name.cubin" "$here/$name.cu"
  time ncu --clock-control none --csv --page raw --metrics "$metrics" --log-file "$out/$name.csv" "$build/$name" > /dev/null
done
# How much the hardware's own times differ.
ncu --clock-control none --csv --page raw --metrics sm__cycles_elapsed.max --log-file "$out/repeat1.csv" "$build/reductions" 5 > /dev/null
ncu --clock-control none --csv --page raw --metrics sm__cycles_elapsed.max --log-file "$out/repeat2.csv" "$build/reductions" 40 24 > /dev/null
if [ -n "${SAMPLES:-}" ]; then  # stall samples of each instruction
  for name in loops stores loaded validation unseen reductions; do
    ncu --clock-control none --set full --warp-sampling-interval 0 -f -o "$build/$name" "$build/$name" > /dev/null
    ncu --import "$build/$name.ncu-rep" --page source --csv > "$out/$name.samples.csv"
  done
fi
