"""Training of the reference's networks in plain PyTorch, with which a test compares.

Takes the folder of models.py, and reads from stdin lines of JSON with the name of a network, its
weight file, inputs, labels and loss. Writes a line of JSON for each: the losses of ten
steps, and the sum and the norm of each tensor after them.
"""

import json
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn


def attention(q, k, v, dropout_p=0.0, is_causal=False):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if is_causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -math.inf)
    return F.dropout(scores.softmax(-1), dropout_p) @ v


class RMSNorm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


# What PyTorch 1.13 lacks.
if not hasattr(F, "scaled_dot_product_attention"):
    F.scaled_dot_product_attention = attention
if not hasattr(nn, "RMSNorm"):
    nn.RMSNorm = RMSNorm


def loss_of(kind, out, labels):
    if kind == "classes":
        return F.cross_entropy(out, labels)
    if kind == "tokens":
        return F.cross_entropy(out.flatten(0, 1), labels.flatten())
    return (out**2).mean()


def train(case, cases):
    net = cases[case["name"]][0]()
    net.load_state_dict(torch.load(case["weights"]), strict=True)
    net.train()
    for module in net.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if isinstance(module, nn.MultiheadAttention):
            module.dropout = 0.0
    x = torch.tensor(case["input"]["values"], dtype=getattr(torch, case["input"]["dtype"])).view(case["input"]["shape"])
    labels = torch.tensor(case["labels"])
    optimizer = torch.optim.SGD(net.parameters(), lr=case["lr"], momentum=0.9)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        out = net(x)
        loss = loss_of(case["loss"], out, labels.view(out.shape[:2]) if case["loss"] == "tokens" else labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    tensors = {name: [t.double().sum().item(), t.double().norm().item()] for name, t in net.state_dict().items()}
    print(json.dumps({"name": case["name"], "losses": losses, "tensors": tensors}))


torch.set_num_threads(1)
sys.path.insert(0, sys.argv[1])
from models import CASES  # noqa: E402

for line in sys.stdin:
    train(json.loads(line), CASES)
