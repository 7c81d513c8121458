"""Ours against plain PyTorch, in turn, medians of the ratios.

    python3 compute/nn/bench/compare.py [RUNS [cpu] [NET ...]]

With cpu, seconds of the processors in place of the clock's, and PyTorch on one thread.

Needs Debian's python3-torch and libopenblas0-openmp, without which PyTorch multiplies by the reference BLAS. The peer gets
its best: two threads, memory that is kept between steps, and the kernel of OPENBLAS_CORETYPE (bench/run.sh sets it). Run it
from the root of the project.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
here = os.path.dirname(os.path.abspath(__file__))
work = tempfile.mkdtemp()
epoch = os.path.join(work, "epoch")
subprocess.run(["go", "build", "-o", epoch, "./bench/epoch"], check=True)
cases = [("fcn-300-64-10", 60000), ("fcn-784-1024-512-64-10", 12000), ("arous-cnn", 6000), ("mnist-paw-cnn", 12000),
         ("cifar-cnn-32-64-128-256", 2000), ("sms-rnn-simple", 6000), ("sms-rnn-complex", 1000)]
only = sys.argv[2:]
cpu = only[:1] == ["cpu"]
only = only[cpu:]
env = {k: v for k, v in os.environ.items() if k != "OPENBLAS_L2_SIZE" and (k != "OPENBLAS_CORETYPE" or v)}
env |= {"MALLOC_MMAP_THRESHOLD_": "1000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000", "MALLOC_TOP_PAD_": "200000000"}
if cpu:
    env |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
peer = json.loads(subprocess.check_output([sys.executable, os.path.join(here, "torch_epoch.py"), cases[0][0], "250", "500"], env=env))
print("PyTorch", peer["torch_version"], "with", ", ".join(peer["blas"]) or "no BLAS of its own", "and OPENBLAS_CORETYPE", env.get("OPENBLAS_CORETYPE", "unset"))
if not any("openblas" in b for b in peer["blas"]):
    print("a weak peer: install libopenblas0-openmp, or products of dense layers are ten times slower than they could be")
print(f"{'net':28}{'B':>6}{'torch':>9}{'plain':>9}{'private':>9}{'private/torch':>15}{'private/plain':>15}")
for net, rows in cases:
    if only and net not in only:
        continue
    for batch in (250, 1000):
        got = []
        for _ in range(runs):
            ours = json.loads(subprocess.check_output([epoch, "-net", net, "-batch", str(batch), "-rows", str(rows), f"-cpu={str(cpu).lower()}"]))
            torch = json.loads(subprocess.check_output([sys.executable, os.path.join(here, "torch_epoch.py"), net, str(batch), str(rows)] + ["cpu"] * cpu, env=env))
            got.append((torch["torch"], ours["plain"], ours["private"]))
        t, p, d = (statistics.median(g[i] for g in got) for i in range(3))
        print(f"{net:28}{batch:6}{t:9.3f}{p:9.3f}{d:9.3f}{statistics.median(g[2] / g[0] for g in got):15.2f}"
              f"{statistics.median(g[2] / g[1] for g in got):15.2f}", flush=True)
