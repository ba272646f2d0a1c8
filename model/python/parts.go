package python

// head takes the network's name, the shape of an example and the weight file.
const head = `"""%[1]s, written by graft. An example is %[2]v; the weights are in %[3]s.

    net = load()            # in eval mode
    logits = net(batch)     # one row per example
"""

import json
import os
from collections import OrderedDict

import torch
from torch import nn


class _Parts(nn.Module):
    """A module with named parts, in order."""

    _name = None

    def __init__(self, *parts):
        super().__init__()
        for name, part in parts:
            self.add_module(name, part)

    def _get_name(self):
        return self._name or type(self).__name__
`

// normalization takes the mean and the deviation.
const normalization = `

def normalize(images):
    """Prepare a batch of images, bytes from 0 to 255, as in training."""
    mean = torch.tensor(%s).view(1, -1, 1, 1)
    deviation = torch.tensor(%s).view(1, -1, 1, 1)
    return (images.to(torch.float32) * (1.0 / 255) - mean) / deviation
`

// classNames takes a tuple.
const classNames = `

# The classes, in the order of the logits.
CLASSES = %s
`

// tail takes the weight file, the network's class, the statement that gives it weights, and the class again.
const tail = `

_TYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
}


def read(path):
    """Read a weight file, .safetensors or .pth."""
    if not path.endswith(".safetensors"):
        return torch.load(path, map_location="cpu")
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = bytearray(file.read())
    state = OrderedDict()
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        kind = _TYPES[entry["dtype"]]
        if start == end:
            state[name] = torch.empty(entry["shape"], dtype=kind)
            continue
        # Copy first: an offset may not be a multiple of the type's size.
        state[name] = torch.frombuffer(data[start:end], dtype=kind).reshape(entry["shape"])
    return state


def _beside():
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), %s)


def load(path=None):
    """Return the network with the weights from a file; the default is the file next to this module."""
    if path is None:
        path = _beside()
    net = %s()
    %s
    return net.eval()


if __name__ == "__main__":
    print(%s())
`
