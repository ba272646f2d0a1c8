# Computes the first weights of new units with PyTorch's autograd and unfold, straight from the papers' formulas.
import json
import sys

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)

def tensor(entry):
    return torch.tensor(entry["values"], dtype=torch.float64).reshape(entry["shape"])


def run(x, keep):
    for k, layer in enumerate(case["layers"]):
        keep[k] = [x]
        w = [tensor(t) for t in layer.get("tensors") or []]
        kind = layer["kind"]
        if kind == "linear":
            x = F.linear(x, w[0], w[1] if len(w) > 1 else None)
        elif kind == "conv":
            x = F.conv2d(x, w[0], w[1] if len(w) > 1 else None, layer["stride"], layer["padding"])
        elif kind == "norm":
            x = F.batch_norm(x, None, None, w[0], w[1], True, 0.0, layer["eps"])
        elif kind == "avgpool":
            x = F.avg_pool2d(x, 2)
        elif kind == "flatten":
            x = x.flatten(1)
        else:
            x = getattr(torch, kind)(x)
        if k == case["consumer"]:
            x = x.detach().requires_grad_()
        keep[k].append(x)
    return x


def windows(x, layer, bias):
    """The inputs of a unit: [examples, inputs, positions...]; with a one for the bias."""
    if layer["kind"] == "linear":
        out = x
    else:
        w = layer["tensors"][0]["shape"]
        size = [(x.shape[2 + d] + 2 * layer["padding"] - w[2 + d]) // layer["stride"] + 1 for d in range(2)]
        out = F.unfold(x, w[2:], padding=layer["padding"], stride=layer["stride"])
        out = out.reshape(x.shape[0], -1, *size)
    if bias:
        out = torch.cat([out, torch.ones_like(out[:, :1])], 1)
    return out


def straight(x):
    """The layers in between, without activations and normalisation."""
    for layer in case["layers"][case["producer"] + 1:case["consumer"]]:
        if layer["kind"] == "avgpool":
            x = F.avg_pool2d(x, 2)
        if layer["kind"] == "flatten":
            x = x.flatten(1)
    return x


def correlate(a, grad):
    """Sums of products of each unit's activation and the gradient: [units, out channels, columns and taps]."""
    layer, units = consumer, a.shape[1]
    h = straight(a)
    if layer["kind"] == "linear":
        return torch.einsum("nup,no->uop", h.reshape(h.shape[0], units, -1), grad)
    w = layer["tensors"][0]["shape"]
    taps = F.unfold(h, w[2:], padding=layer["padding"], stride=layer["stride"])
    taps = taps.reshape(h.shape[0], units, -1, taps.shape[2])
    return torch.einsum("nuql,nol->uoq", taps, grad.flatten(2))


def sign(v):
    return torch.sign(v[v.abs().argmax()])


def columns(units):
    """The outgoing weights in the layout of the consumer's weight."""
    return units.reshape(len(units), w2.shape[0], -1).transpose(0, 1).flatten().tolist()


def gradmax():
    m = correlate(windows(x, producer, False), grad).flatten(1)
    u, s, v = torch.linalg.svd(m, full_matrices=False)
    flips = torch.stack([sign(u[:, k]) for k in range(count)])
    if case["incoming"]:
        incoming = torch.zeros(count, w1[0].numel())
        outgoing = v[:count] * flips[:, None] * per_unit.norm(dim=1).mean()
    else:
        incoming = u[:, :count].t() * flips[:, None] * w1.flatten(1).norm(dim=1).mean()
        outgoing = torch.zeros(count, per_unit.shape[1])
    if producer["kind"] == "conv" and consumer["kind"] == "conv" and not straight_layers:
        composed(m)
    return incoming, None, outgoing, float((s[:count] ** 2).sum())


def composed(m):
    """Without padding, each entry is the gradient of a bypass convolution at the sum of the two taps."""
    if producer["padding"] or consumer["padding"]:
        return
    a, b, stride = w1.shape[2:], w2.shape[2:], producer["stride"]
    size = [a[d] + (b[d] - 1) * stride for d in range(2)]
    bypass = torch.zeros(w2.shape[0], w1.shape[1], *size, requires_grad=True)
    y = F.conv2d(x, bypass, stride=stride * consumer["stride"])
    g = torch.autograd.grad((y * grad).sum(), bypass)[0]
    m = m.reshape(w1.shape[1], *a, w2.shape[0], *b)
    for i in range(a[0]):
        for j in range(a[1]):
            for k in range(b[0]):
                for l in range(b[1]):
                    apart = m[:, i, j, :, k, l] - g[:, :, i + k * stride, j + l * stride].t()
                    assert apart.abs().max() < 1e-12, "the composed taps differ"


def power(s, exponent):
    values, vectors = torch.linalg.eigh(s)
    kept = values > 1e-6 * values.max()
    return vectors[:, kept] @ torch.diag(values[kept] ** exponent) @ vectors[:, kept].t()


def matrix(a):
    return a.transpose(0, 1).flatten(1)


def tiny():
    biased = len(producer["tensors"]) > 1
    hs = matrix(windows(h, consumer, len(consumer["tensors"]) > 1))
    goal = matrix(grad)
    rest = goal - (power(hs @ hs.t(), -1) @ hs @ goal.t()).t() @ hs
    rest = rest.reshape(grad.shape[1], grad.shape[0], *grad.shape[2:]).transpose(0, 1)
    b = windows(x, producer, biased)
    read = straight(b)
    if consumer["kind"] == "conv":  # each output and tap reads a patch
        taps = F.unfold(read, w2.shape[2:], padding=consumer["padding"], stride=consumer["stride"])
        read = taps.reshape(read.shape[0], b.shape[1], -1)
    read = matrix(read.reshape(read.shape[0], b.shape[1], -1))
    root = power(read @ read.t() / x.shape[0], -0.5)
    u, s, v = torch.linalg.svd(-root @ correlate(b, rest).flatten(1), full_matrices=False)
    alpha = (root @ u[:, :count] * s[:count].sqrt()).t()
    flips = torch.stack([sign(a) for a in alpha])
    factor = case["amplitude"] ** 0.5
    alpha, omega = alpha * flips[:, None] * factor, v[:count] * (s[:count].sqrt() * flips)[:, None] * factor
    bias = alpha[:, -1].tolist() if biased else None
    return alpha[:, :w1[0].numel()], bias, omega, 0.0


def solve():
    global producer, consumer, x, h, grad, count, w1, w2, per_unit, straight_layers
    keep = {}
    logits = run(tensor(case["inputs"]), keep)
    loss = F.cross_entropy(logits, torch.tensor(case["labels"]))
    z = keep[case["consumer"]][1]
    grad = torch.autograd.grad(loss, z)[0]
    producer, consumer = case["layers"][case["producer"]], case["layers"][case["consumer"]]
    x, h = keep[case["producer"]][0], keep[case["consumer"]][0]
    count, old = case["count"], producer["tensors"][0]["shape"][0]
    w1, w2 = tensor(producer["tensors"][0]), tensor(consumer["tensors"][0])
    per_unit = w2.flatten(2) if w2.dim() == 4 else w2.reshape(w2.shape[0], old, -1)
    per_unit = per_unit.transpose(0, 1).flatten(1)
    straight_layers = [l for l in case["layers"][case["producer"] + 1:case["consumer"]] if l["kind"] in ("avgpool", "flatten")]
    incoming, bias, outgoing, gain = gradmax() if case["start"] == "gradmax" else tiny()
    result = {"in": incoming.flatten().tolist(), "bias": bias, "out": columns(outgoing), "gain": gain}
    following = case["layers"][case["producer"] + 1]
    if following["kind"] == "norm":
        a = matrix(F.conv2d(x, incoming.reshape(count, *w1.shape[1:]), torch.tensor(bias) if bias else None,
                            producer["stride"], producer["padding"]))
        result["mean"], result["var"] = a.mean(1).tolist(), a.var(1, unbiased=False).tolist()
    return result


results = []
for case in json.load(sys.stdin):
    results.append(solve())
json.dump(results, sys.stdout)
