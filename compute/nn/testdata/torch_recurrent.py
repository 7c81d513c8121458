"""Writes torch_recurrent.json: scores, losses and gradients of single texts by PyTorch.

    python3 nn/testdata/torch_recurrent.py > nn/testdata/torch_recurrent.json

Embedding, one recurrent layer, its last state or the mean of its states, a linear layer
and cross-entropy, in float64. Parameters and gradients are in the order of package nn:
the embedding; LSTM: [W_ih; W_hh] transposed, one bias (the second is zero); GRU: W_ih
transposed, b_ih, W_hh transposed, b_hh; the linear layer's weight transposed, its bias.
"""
import json

import torch
from torch import nn

VOCABULARY, E, H, LENGTH, CLASSES = 7, 3, 4, 6, 3
TEXTS = [([1, 5, 2, 5, 0, 3], 2), ([4, 4], 0), ([6, 0, 6, 6], 1)]

torch.manual_seed(20261128)
torch.set_default_dtype(torch.float64)


def flat(cell, linear, embedding, of):
    ih, hh = of(cell.weight_ih_l0).t(), of(cell.weight_hh_l0).t()
    parts = [of(embedding.weight)]
    if isinstance(cell, nn.LSTM):
        parts += [torch.cat([ih, hh]), of(cell.bias_ih_l0)]
    else:
        parts += [ih, of(cell.bias_ih_l0), hh, of(cell.bias_hh_l0)]
    parts += [of(linear.weight).t(), of(linear.bias)]
    return [round(float(v), 12) for p in parts for v in p.reshape(-1)]


cases = []
for kind in ("lstm", "gru"):
    for mode in ("last", "mean"):
        embedding = nn.Embedding(VOCABULARY, E)
        cell = (nn.LSTM if kind == "lstm" else nn.GRU)(E, H, batch_first=True)
        linear = nn.Linear(H, CLASSES)
        with torch.no_grad():
            for module in (embedding, cell, linear):
                for p in module.parameters():
                    # Numbers that float32 holds, so that both compute the same net.
                    p.copy_((torch.randn_like(p) * 0.6).float().double())
            if kind == "lstm":
                cell.bias_hh_l0.zero_()
        modules = (embedding, cell, linear)
        case = {"kind": kind, "mode": mode, "parameters": flat(cell, linear, embedding, lambda p: p.detach()), "texts": []}
        for tokens, target in TEXTS:
            for module in modules:
                module.zero_grad()
            states, _ = cell(embedding(torch.tensor([tokens])))
            scores = linear(states[:, -1] if mode == "last" else states.mean(1))
            loss = nn.functional.cross_entropy(scores, torch.tensor([target]))
            loss.backward()
            case["texts"].append({"tokens": tokens, "target": target, "loss": round(float(loss), 12),
                                  "scores": [round(float(v), 12) for v in scores[0]],
                                  "gradient": flat(cell, linear, embedding, lambda p: p.grad)})
        cases.append(case)
print(json.dumps({"torch": torch.__version__, "vocabulary": VOCABULARY, "units": E, "state": H, "length": LENGTH, "cases": cases}))
