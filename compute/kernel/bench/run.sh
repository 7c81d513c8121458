#!/usr/bin/env bash
# Builds and runs the comparison with OpenBLAS; arguments go to compare.go.
set -euo pipefail
cd "$(dirname "$0")"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc -O2 -o "$dir/openblas" openblas.c -lopenblas
go build -o "$dir/compare" compare.go
if [ -z "${OPENBLAS_CORETYPE:-}" ]; then unset OPENBLAS_CORETYPE; fi
env -u OPENBLAS_L2_SIZE OPENBLAS_NUM_THREADS=1 GOMAXPROCS=1 "$dir/compare" "$@" "$dir/openblas"
