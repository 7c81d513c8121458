#!/usr/bin/env bash
# Times a search on worker processes, and runs one through deaths.
#
#   bench/fleet.sh           four single-threaded workers against one, on this machine
#   bench/fleet.sh deaths    a worker killed every two seconds, the search killed twice, the broker restarted once
#
# Both print JSON lines. The winner of the second must be that of an undisturbed search.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
go build -o "$work/pawl" ./cmd/pawl
go build -o "$work/pawl-broker" ./cmd/pawl-broker
export HOME=$work XDG_DATA_HOME=$work/data XDG_STATE_HOME=$work/state
port=${PORT:-4399} trials=${TRIALS:-40} data=${DATA:-breast-cancer} target=${TARGET:-} space=${SPACE_FILE:-tabular}
url=nats://127.0.0.1:$port
search=("$work/pawl" search "$data" --space "$space" --strategy rs --mean-trials "$trials" --epsilon 8 --seed 3 --json)
if [ -n "$target" ]; then search+=(--target "$target"); fi

broker() { "$work/pawl-broker" --listen "127.0.0.1:$port" 2>>"$work/broker.log" & broker=$!; sleep 1; }
now() { date +%s.%N; }

# timed NAME WORKERS: seconds of a search on so many workers of one thread each.
timed() {
  local pids=()
  for _ in $(seq "$2"); do GOMAXPROCS=1 "$work/pawl" worker --nats "$url" --parallel 1 2>>"$work/worker.log" & pids+=($!); done
  sleep 1
  local from; from=$(now)
  GOMAXPROCS=1 "${search[@]}" --nats "$url" --study "$1" --out "$work/out-$1" >"$work/$1.json" 2>>"$work/search.log"
  echo "{\"run\": \"$1\", \"workers\": $2, \"seconds\": $(echo "$(now) - $from" | bc)}"
  kill "${pids[@]}"; wait "${pids[@]}" 2>/dev/null || true
}

# same A B: the models of two searches are equal to the byte.
same() {
  cmp "$work/out-$1/model/model.safetensors" "$work/out-$2/model/model.safetensors"
  echo "{\"same\": [\"$1\", \"$2\"]}"
}

broker
case ${1:-speed} in
speed)
  for round in 1 2 3; do timed "one-$round" 1; timed "four-$round" 4; done
  same one-1 four-1
  ;;
deaths)
  timed calm 2
  ( while :; do timeout -s KILL 2 "$work/pawl" worker --nats "$url" --parallel 1 2>>"$work/worker.log" || true; done ) &
  "$work/pawl" worker --nats "$url" --parallel 1 2>>"$work/worker.log" &
  for life in 1 2; do
    timeout -s KILL 6 "${search[@]}" --nats "$url" --study deaths --out "$work/out-deaths" >"$work/deaths.json" 2>>"$work/search.log" || true
    if [ "$life" = 1 ]; then kill "$broker"; wait "$broker" 2>/dev/null || true; broker; fi
  done
  if [ ! -e "$work/out-deaths" ]; then "${search[@]}" --nats "$url" --study deaths --out "$work/out-deaths" >"$work/deaths.json" 2>>"$work/search.log"; fi
  same calm deaths
  "$work/pawl" ledger show "$data" --json | grep -c '"id"' | sed 's/.*/{"entries": &}/'
  ;;
*) echo "usage: bench/fleet.sh [speed|deaths]" >&2; exit 2 ;;
esac
