"""Seconds of one plain PyTorch epoch of 60,000 random examples, two threads.

With "cpu" as a fourth argument, seconds of the processor with one thread: those of
several count the time in which they spin for each other.
"""
import json
import os
import sys
import time

import torch
from torch import nn

cpu = sys.argv[4:] == ["cpu"]
torch.set_num_threads(1 if cpu else 2)


def cnn(*layers):
    return nn.Sequential(*layers)


def same_pad(k):
    return nn.ZeroPad2d(((k - 1) // 2, k // 2, (k - 1) // 2, k // 2))


class Texts(nn.Module):
    """Embedding, LSTM and two dense layers on its last state."""

    def __init__(self, state, hidden):
        super().__init__()
        self.embedding, self.lstm = nn.Embedding(1000, 50), nn.LSTM(50, state, batch_first=True)
        self.head = nn.Sequential(nn.Linear(state, hidden), nn.Tanh(), nn.Linear(hidden, 2))

    def forward(self, tokens):
        return self.head(self.lstm(self.embedding(tokens))[0][:, -1])


NETS = {
    "sms-rnn-simple": ((150,), lambda: Texts(4, 16)),
    "sms-rnn-complex": ((150,), lambda: Texts(256, 512)),
    "fcn-300-64-10": ((300,), lambda: nn.Sequential(nn.Linear(300, 64), nn.Tanh(), nn.Linear(64, 10))),
    "fcn-784-1024-512-64-10": ((784,), lambda: nn.Sequential(
        nn.Linear(784, 1024), nn.Tanh(), nn.Linear(1024, 512), nn.Tanh(), nn.Linear(512, 64), nn.Tanh(), nn.Linear(64, 10))),
    "arous-cnn": ((1, 28, 28), lambda: cnn(
        nn.ZeroPad2d((3, 3, 3, 3)), nn.Conv2d(1, 16, 8, 2), nn.Tanh(), nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2), nn.Tanh(), nn.MaxPool2d(2, 1), nn.Flatten(), nn.Linear(512, 32), nn.Tanh(), nn.Linear(32, 10))),
    "mnist-paw-cnn": ((1, 28, 28), lambda: cnn(
        nn.MaxPool2d(2), nn.Conv2d(1, 16, 5), nn.MaxPool2d(2), nn.Tanh(), nn.Conv2d(16, 32, 3, padding=1), nn.Tanh(),
        nn.Flatten(), nn.Linear(800, 64), nn.Tanh(), nn.Linear(64, 10))),
    "cifar-cnn-32-64-128-256": ((3, 32, 32), lambda: cnn(
        nn.Conv2d(3, 32, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2),
        nn.Conv2d(64, 128, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2), nn.Conv2d(128, 256, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1024, 32), nn.Tanh(), nn.Linear(32, 10))),
}

name, batch, rows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
shape, make = NETS[name]
torch.manual_seed(1)
net = make()
clock = time.process_time if cpu else time.perf_counter
x, y = torch.rand(rows, *shape), torch.arange(rows) % 10
if isinstance(net, Texts):
    x, y = torch.randint(1000, (rows, *shape)), y % 2
opt = torch.optim.SGD(net.parameters(), lr=0.01)


def step(lo):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x[lo:lo + batch]), y[lo:lo + batch]).backward()
    opt.step()


step(0)
start = clock()
for lo in range(0, rows - batch + 1, batch):
    step(lo)
seconds = (clock() - start) * 60000 / (rows // batch * batch)
# Debian's torch takes whichever BLAS is installed; the reference one is ten times slower.
with open("/proc/self/maps") as maps:
    blas = sorted({os.path.realpath(line.split()[-1]) for line in maps if "blas" in line.split()[-1]})
print(json.dumps({"torch_version": torch.__version__, "blas": blas, "net": name, "batch": batch, "parameters": sum(p.numel() for p in net.parameters()), "torch": seconds}))
