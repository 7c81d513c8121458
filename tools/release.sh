#!/usr/bin/env bash
# Builds what a release consists of: static binaries for six platforms, completions for
# four shells, and checksums of all of them.
#   tools/release.sh FOLDER [OS/ARCH ...]      # all six, or those named
# The folder must not exist yet. The same commit and Go version give the same bytes; the
# binaries name the version of the commit's tag.
set -euo pipefail
if [ $# -lt 1 ] || [ -e "$1" ]; then
  echo "usage: tools/release.sh FOLDER [OS/ARCH ...], where FOLDER does not exist yet" >&2
  exit 2
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
platforms=("$@")
if [ ${#platforms[@]} = 0 ]; then
  platforms=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64)
fi
export CGO_ENABLED=0
flags=(-trimpath '-ldflags=-s -w')
for p in "${platforms[@]}"; do
  os=${p%/*} arch=${p#*/} suffix=
  if [ "$os" = windows ]; then suffix=.exe; fi
  GOOS=$os GOARCH=$arch go build "${flags[@]}" -o "$out/pawl-$os-$arch$suffix" ./cmd/pawl
done
mkdir "$out/completions"
for shell in bash zsh fish powershell; do
  go run "${flags[@]}" ./cmd/pawl completion $shell > "$out/completions/pawl.$shell"
done
cp LICENSE NOTICE "$out"
(cd "$out" && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum > SHA256SUMS)
ls -l "$out"
