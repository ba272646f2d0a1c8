"""Gradients example by example in plain PyTorch, with which squares_test.go compares.

Reads a network and its examples from the file in the first argument, and sizes of parts in JSON from
stdin. Writes a line of JSON for each size.
"""

import json
import sys

import torch
import torch.nn.functional as functional


def gradient(tensors, row):
    """The gradient of the loss of one example, in float64."""
    parameters = [tensors[name].double().requires_grad_() for name in ("w1", "b1", "w2", "b2")]
    w1, b1, w2, b2 = parameters
    x = tensors["x"][row : row + 1].double().flatten(1)
    logits = functional.linear(functional.relu(functional.linear(x, w1, b1)), w2, b2)
    found = torch.autograd.grad(functional.cross_entropy(logits, tensors["y"][row : row + 1]), parameters)
    return torch.cat([g.flatten() for g in found])


def square(gradients):
    return gradients.mean(0).square().sum().item()


torch.set_num_threads(1)
loaded = torch.load(sys.argv[1], map_location="cpu")
every = torch.stack([gradient(loaded, row) for row in range(len(loaded["x"]))])
for part in json.load(sys.stdin):
    parts = [square(rows) for rows in every.split(part)]
    print(json.dumps({"squares": [sum(parts) / len(parts), square(every)], "variance": every.var(0).sum().item()}))
