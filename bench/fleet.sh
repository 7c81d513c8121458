#!/usr/bin/env bash
# Times a search on worker processes, and runs one through deaths.
#
#   bench/fleet.sh           four single-threaded workers against one, on this machine
#   bench/fleet.sh deaths    a worker killed every two seconds, the search killed twice, the broker restarted once
#
# Both print JSON lines; the second exits 1 unless all of 200 trials were done and recorded once, the ledger says
# what it says of an undisturbed search, and the winner is the same to the byte. Needs jq.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
go build -o "$work/pawl" ./cmd/pawl
go build -o "$work/pawl-broker" ./cmd/pawl-broker
port=${PORT:-4399} data=${DATA:-adult}
url=nats://127.0.0.1:$port

search=("$work/pawl" search "$data" --space bench/models.yaml --strategy grid --epsilon 8 --seed 3 --json)

# home NAME: a user with a ledger of his own.
home() { export HOME=$work/$1 XDG_DATA_HOME=$work/$1/data XDG_STATE_HOME=$work/$1/state; mkdir -p "$HOME"; }
broker() { "$work/pawl-broker" --listen "127.0.0.1:$port" 2>>"$work/broker.log" & broker=$!; sleep 1; }
worker() { GOMAXPROCS=1 "$work/pawl" worker --nats "$url" --parallel 1 2>>"$work/worker.log" & pids+=($!); }
now() { date +%s.%N; }
load() { cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo null; }

# timed NAME WORKERS: seconds of a search on so many workers of one thread each.
timed() {
  pids=()
  for _ in $(seq "$2"); do worker; done
  sleep 1
  local from; from=$(now)
  GOMAXPROCS=1 "${search[@]}" --nats "$url" --study "$1" --out "$work/out-$1" >"$work/$1.json" 2>>"$work/search.log"
  echo "{\"run\": \"$1\", \"workers\": $2, \"seconds\": $(echo "$(now) - $from" | bc), \"load\": $(load)}"
  kill "${pids[@]}"; wait "${pids[@]}" 2>/dev/null || true
}

# same A B: the models of two searches are equal to the byte.
same() {
  cmp "$work/out-$1/model/model.safetensors" "$work/out-$2/model/model.safetensors"
  echo "{\"same\": [\"$1\", \"$2\"]}"
}

# account NAME: what a study recorded of its trials, and the ledger of it.
account() {
  "$work/pawl" study show "$1" --json | jq -c '{trials: (.trials | length), distinct: (.trials | map(.number) | unique | length)}' | tee "$work/$1.trials"
  "$work/pawl" study show "$1" --json | jq -c '.trials | map([.number, .candidate, .score, .failed]) | sort' >"$work/$1.scores"
  "$work/pawl" ledger show "$data" --json | jq -c '{entries: [.entries[].state], spent: .spent.epsilon, reserved: .reserved.epsilon}' | tee "$work/$1.ledger"
}

case ${1:-speed} in
speed)
  home speed; broker
  for round in 1 2 3; do timed "one-$round" 1; timed "four-$round" 4; done
  same one-1 four-1
  ;;
deaths)
  home calm; broker
  timed calm 2
  account calm
  home deaths
  # One worker that stays, and three of which the oldest is killed every two seconds and another takes its place.
  worker
  (
    trap 'kill "${pids[@]}" 2>/dev/null; exit' TERM
    pids=()
    worker; worker
    while :; do
      worker
      sleep 2
      kill -KILL "${pids[0]}" && echo killed >>"$work/killed"
      pids=("${pids[@]:1}")
    done
  ) &
  for life in 1 2; do
    if timeout -s KILL 25 "${search[@]}" --nats "$url" --study deaths --out "$work/out-deaths" >"$work/deaths.json" 2>>"$work/search.log"; then
      echo "the search ended before it was killed" >&2; exit 1
    fi
    if [ "$life" = 1 ]; then kill "$broker"; wait "$broker" 2>/dev/null || true; sleep 3; broker; fi
  done
  "${search[@]}" --nats "$url" --study deaths --out "$work/out-deaths" >"$work/deaths.json" 2>>"$work/search.log"
  echo "{\"workers_killed\": $(wc -l <"$work/killed"), \"searches_killed\": 2, \"brokers_restarted\": 1}"
  account deaths
  same calm deaths
  grep -q '"trials":200,"distinct":200' "$work/deaths.trials"
  cmp "$work/calm.scores" "$work/deaths.scores"
  cmp "$work/calm.ledger" "$work/deaths.ledger"
  echo '{"exact": true}'
  ;;
*) echo "usage: bench/fleet.sh [speed|deaths]" >&2; exit 2 ;;
esac
