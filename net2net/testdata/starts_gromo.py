# Computes new units with GroMo's growing modules: GradMax and TINY, with the settings that its documentation states.
import json
import sys
import warnings

import torch

from gromo.modules.conv2d_growing_module import FullConv2dGrowingModule
from gromo.modules.linear_growing_module import LinearGrowingModule

warnings.filterwarnings("ignore")
torch.set_default_dtype(torch.float64)


def tensor(entry):
    return torch.tensor(entry["values"], dtype=torch.float64).reshape(entry["shape"])


def module(layer, after, previous, size):
    w = layer["tensors"]
    common = {"post_layer_function": after, "previous_module": previous, "use_bias": len(w) > 1, "device": "cpu"}
    if layer["kind"] == "linear":
        made = LinearGrowingModule(w[0]["shape"][1], w[0]["shape"][0], **common)
    else:
        made = FullConv2dGrowingModule(w[0]["shape"][1], w[0]["shape"][0], kernel_size=w[0]["shape"][2],
                                       stride=layer["stride"], padding=layer["padding"], input_size=size, **common)
    with torch.no_grad():
        made.layer.weight.copy_(tensor(w[0]))
        if len(w) > 1:
            made.layer.bias.copy_(tensor(w[1]))
    return made


def rest(layers):
    parts = []
    for layer in layers:
        if layer["kind"] == "linear":
            w = layer["tensors"]
            part = torch.nn.Linear(w[0]["shape"][1], w[0]["shape"][0])
            with torch.no_grad():
                part.weight.copy_(tensor(w[0]))
                part.bias.copy_(tensor(w[1]))
            parts.append(part)
        else:
            parts.append({"flatten": torch.nn.Flatten, "tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}[layer["kind"]]())
    return torch.nn.Sequential(*parts)


def mean_norm(units):
    return units.flatten(1).norm(dim=1).mean()


def solve(case):
    layers, x = case["layers"], tensor(case["inputs"])
    size = tuple(x.shape[2:])
    first = module(layers[0], torch.nn.Tanh(), None, size)
    second = module(layers[2], torch.nn.Identity(), first, size)
    second.init_computation()
    logits = rest(layers[3:])(second(first(x)))
    torch.nn.functional.cross_entropy(logits, torch.tensor(case["labels"]), reduction="sum").backward()
    second.update_computation()
    settings = {"use_projection": False, "use_covariance": False, "ignore_singular_values": True}
    if case["start"] == "tiny":
        settings = {}
    second.compute_optimal_updates(maximum_added_neurons=case["count"], compute_delta=case["start"] == "tiny",
                                   dtype=torch.float64, statistical_threshold=0.0, **settings)
    alpha, omega = first.extended_output_layer, second.extended_input_layer.weight.detach()
    incoming, bias = alpha.weight.detach(), alpha.bias.detach() if alpha.bias is not None else None
    if case["start"] == "gradmax":
        omega = -omega * mean_norm(second.layer.weight.detach().transpose(0, 1))
    whole = incoming.flatten(1)
    if bias is not None and case["start"] == "tiny":
        whole = torch.cat([whole, bias[:, None]], 1)
    signs = torch.stack([torch.sign(row[row.abs().argmax()]) for row in whole])
    omega = omega * signs.reshape(1, -1, *[1] * (omega.dim() - 2))
    incoming = incoming * signs.reshape(-1, *[1] * (incoming.dim() - 1))
    factor = case["amplitude"] ** 0.5 if case["start"] == "tiny" else 1
    if case["start"] == "gradmax":
        incoming, bias = torch.zeros_like(incoming), None
    return {"in": (incoming * factor).flatten().tolist(), "out": (omega * factor).flatten().tolist(),
            "bias": None if bias is None else (bias * signs * factor).tolist()}


json.dump([solve(case) for case in json.load(sys.stdin)], sys.stdout)
