#!/usr/bin/env bash
# Runs a search on three hosts, in network namespaces of this machine, and cuts them off: first the worker for 30
# seconds, then the search. Its model must be that of the same search in one process, to the byte, and every trial
# recorded once.
#
#   sudo bench/partition.sh
#
# Needs Linux, root (for ip netns), iproute2 and jq; it touches no interface of the machine. Prints JSON lines.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(uname)" != Linux ] || [ "$(id -u)" != 0 ]; then echo "bench/partition.sh: must run as root on Linux, for network namespaces" >&2; exit 2; fi
for tool in ip jq; do command -v "$tool" >/dev/null || { echo "bench/partition.sh: $tool is missing" >&2; exit 2; }; done

work=$(mktemp -d)
hub=pawl$$hub desk=pawl$$desk node=pawl$$node
finish() {
  kill $(jobs -p) 2>/dev/null || true
  wait 2>/dev/null || true
  for host in "$hub" "$desk" "$node"; do ip netns del "$host" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT
go build -o "$work/pawl" ./cmd/pawl
go build -o "$work/pawl-broker" ./cmd/pawl-broker
export HOME=$work XDG_DATA_HOME=$work/data XDG_STATE_HOME=$work/state

# The hub has a bridge, to which the other two are plugged in by a cable each.
for host in "$hub" "$desk" "$node"; do
  ip netns add "$host" || { echo "bench/partition.sh: this machine permits no network namespaces" >&2; exit 2; }
  ip -n "$host" link set lo up
done
ip -n "$hub" link add bridge type bridge
ip -n "$hub" addr add 10.77.0.1/24 dev bridge
ip -n "$hub" link set bridge up
plug() { # HOST CABLE ADDRESS
  ip -n "$hub" link add "$2" type veth peer name eth netns "$1"
  ip -n "$hub" link set "$2" master bridge up
  ip -n "$1" addr add "$3/24" dev eth
  ip -n "$1" link set eth up
}
plug "$desk" desk 10.77.0.2
plug "$node" node 10.77.0.3

(cd "$work" && go run "$(go env GOROOT)/src/crypto/tls/generate_cert.go" --host 10.77.0.1 2>/dev/null)
for host in desk node; do "$work/pawl-broker" key "$work/$host.key"; done >"$work/keys.txt"
at() { local host=$1; shift; ip netns exec "$host" "$@"; }
show() { echo "--nats tls://10.77.0.1:4222 --nats-ca $work/cert.pem --nats-key $work/$1.key"; }

search="$work/pawl search ${DATA:-adult} --space bench/models.yaml --strategy grid --epsilon 8 --seed 3 --json"
trials() { "$work/pawl" study show "$1" --json | jq -c '.trials | map([.number, .candidate, .score, .failed]) | sort'; }

$search --study alone --out "$work/alone" >/dev/null 2>"$work/alone.log"
at "$hub" "$work/pawl-broker" --listen 10.77.0.1:4222 --tls-cert "$work/cert.pem" --tls-key "$work/key.pem" --keys "$work/keys.txt" 2>"$work/broker.log" &
sleep 1
GOMAXPROCS=1 at "$node" "$work/pawl" worker $(show node) --parallel 1 2>"$work/worker.log" &
from=$(date +%s)
at "$desk" $search $(show desk) --ship-data --study far --out "$work/far" >/dev/null 2>"$work/search.log" &
search_pid=$!
journal=$work/data/pawl/studies/far/trials.jsonl
lines() { if [ -e "$journal" ]; then wc -l <"$journal"; else echo 0; fi; }
reach() { # TRIALS: wait until so many are recorded
  for _ in $(seq 1200); do
    if [ "$(lines)" -ge "$1" ]; then return; fi
    kill -0 "$search_pid" 2>/dev/null || break
    sleep 0.2
  done
  echo "bench/partition.sh: $1 trials were not reached" >&2
  cat "$work/search.log" "$work/worker.log" >&2
  exit 1
}
cut_off() { # CABLE
  local before; before=$(lines)
  ip -n "$hub" link set "$1" down
  sleep 30
  local after; after=$(lines)
  ip -n "$hub" link set "$1" up
  echo "{\"cut\": \"$1\", \"seconds\": 30, \"trials_before\": $before, \"trials_after\": $after}"
}
reach 20; cut_off node
reach 100; cut_off desk
wait "$search_pid"
echo "{\"seconds\": $(($(date +%s) - from)), \"trials\": $(trials far | jq length)}"
cmp <(trials alone) <(trials far)
cmp "$work/alone/model/model.safetensors" "$work/far/model/model.safetensors"
echo '{"same": true}'
