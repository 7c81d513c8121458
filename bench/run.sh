#!/usr/bin/env bash
# Times ours beside peers, in turn, and writes the ratios to a file of this machine:
#   bench/run.sh [--quick] [FILE]        # default: bench/MACHINE.txt, which git ignores
# Peers: OpenBLAS (libopenblas-dev, a C compiler), PyTorch (python3-torch, libopenblas0-openmp), scikit-learn
# (python3-sklearn, python3-pandas). What is missing is named and left out. --quick takes
# about three minutes on two quiet cores; without it, half an hour.
set -euo pipefail
cd "$(dirname "$0")/.."
quick=
if [ "${1:-}" = --quick ]; then quick=1; shift; fi
model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -1)
file=${1:-bench/$(printf %s "${model:-machine}" | tr -c 'A-Za-z0-9' '-' | tr -s -).txt}
# On a processor that it does not know OpenBLAS may take its oldest kernel, so the peer is
# told its best one, whatever the environment says; PEER_CORETYPE names another.
coretype=${PEER_CORETYPE:-}
if [ -z "$coretype" ]; then
  case $(grep -m1 '^flags' /proc/cpuinfo 2>/dev/null || true) in
    *avx512vl*) coretype=SKYLAKEX ;;
    *avx2*) coretype=HASWELL ;;
  esac
fi
export OPENBLAS_CORETYPE=$coretype
python=/usr/bin/python3
has() { "$python" -c "import $1" 2>/dev/null; }
{
  echo "# $(nproc) × ${model:-unknown processor}, $(go version | cut -d' ' -f3), OPENBLAS_CORETYPE=${OPENBLAS_CORETYPE:-unset}, load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null)"
  echo
  echo "## Products against OpenBLAS"
  if command -v cc >/dev/null && echo 'int main(void){return 0;}' | cc -x c -o /dev/null - -lopenblas 2>/dev/null; then
    compute/kernel/bench/run.sh ${quick:+-batches 250 -only FCN300}
  else
    echo "left out: OpenBLAS or a C compiler is missing (apt-get install gcc libopenblas-dev)"
  fi
  echo
  echo "## Training against plain PyTorch, and private against plain"
  if has torch; then
    "$python" compute/nn/bench/compare.py ${quick:+1 fcn-300-64-10 mnist-paw-cnn}
  else
    echo "PyTorch is missing (apt-get install python3-torch libopenblas0-openmp); ours alone:"
    go test ./core/gradient -run xxx -bench Net -benchtime "$([ -n "$quick" ] && echo 5x || echo 20x)"
  fi
  echo
  echo "## Share of the processor's peak"
  go run ./bench/epoch -share ${quick:+fcn-300-64-10 fcn-784-1024-512-64-10 mnist-paw-cnn} || echo "left out: see the line above"
  echo
  echo "## Rows: check, fit and predict against a loop of encoding/csv"
  go run ./bench/rows ${quick:+-rows 100000}
  echo
  echo "## A table against scikit-learn: read, encode, fit"
  if has sklearn && has pandas; then
    "$python" bench/table.py ${quick:+100000}
  else
    echo "left out: scikit-learn or pandas is missing (apt-get install python3-sklearn python3-pandas)"
  fi
} 2>&1 | tee "$file"
echo "written: $file" >&2
