"""Prints a network and the description that graft_export.py gives of it, as JSON.

Takes the folder of graft_export.py.
"""

import json
import sys

from torch import nn

sys.path.insert(0, sys.argv[1])
import graft_export  # noqa: E402


class Own(nn.Module):
    """A module with a print of its own, of two lines."""

    def __repr__(self):
        return "Own print\n  of two lines"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, (3, 1), padding="same", padding_mode="reflect"), nn.ReLU(inplace=True), nn.Identity())
        self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 5, bias=False)])
        self.own = Own()
        self.again = self.body
        self.empty = nn.ModuleDict()
        self.register_module("gone", None)
        self.attention = nn.MultiheadAttention(4, 2)

    def extra_repr(self):
        return "first=1\nsecond=2"


net = Net()
print(json.dumps({"print": str(net), "described": graft_export.modules(net)}))
