# Selects units by the gradient of the loss with respect to the size of each candidate, with PyTorch's autograd.
import json
import sys

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
case = json.load(sys.stdin)


def tensor(entry):
    return None if entry is None else torch.tensor(entry["values"]).reshape(entry["shape"])


x, grad, w1, b1, w2 = (tensor(case[k]) for k in ("inputs", "gradient", "producer", "bias", "consumer"))
epsilon = case["epsilon"]


def apply(x, w, b, plane):
    if plane is None:
        return F.linear(x, w, b)
    return F.conv2d(x, w, b, plane["stride"], plane["padding"])


def output(w, b, v):
    """What units add to the output of the consuming layer."""
    return apply(torch.tanh(apply(x, w, b, case["first"])), v, None, case["second"])


def loss(y):
    """The loss of the network, linear in its outputs, up to a constant."""
    return (y * grad).sum()


mean_out = w2.transpose(0, 1).flatten(1).norm(dim=1).mean()
candidates = []
for delta in case["fresh"]:
    w = torch.tensor(delta).reshape(1, *w1.shape[1:])
    v = torch.zeros_like(w2[:, :1], requires_grad=True)
    g = torch.autograd.grad(loss(output(w, None, v)), v)[0]
    v = -mean_out * g / g.norm()
    size = torch.zeros((), requires_grad=True)
    slope = torch.autograd.grad(loss(output(w, None, size * v)), size)[0]
    candidates.append((-slope.item(), -1, delta, (epsilon * v).flatten().tolist()))
if epsilon:
    for k, delta in enumerate(case["deltas"]):
        d, v = torch.tensor(delta).reshape(1, *w1.shape[1:]), w2[:, k:k + 1]
        b = None if b1 is None else b1[k:k + 1]
        w = w1[k:k + 1]
        halves = (output(w + epsilon * d, b, v / 2) + output(w - epsilon * d, b, v / 2)) - output(w, b, v)
        score = -loss(halves).item() / epsilon
        if score > 0:
            candidates.append((score, k, [-epsilon * e for e in delta], [0.0] * v.numel()))
candidates.sort(key=lambda c: -c[0])
best = candidates[:case["count"]]
json.dump({"In": [c[2] for c in best], "Splits": [c[1] for c in best], "Out": [c[3] for c in best]}, sys.stdout)
