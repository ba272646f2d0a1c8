"""Exports a PyTorch network for `graft model import`.

    import graft_export

    graft_export.export(net, (x,), "net.pt2")    # eval mode; dimension 0 of x may change
    graft_export.describe(net, "net.json")       # the modules alone, for an archive that is there

    graft model import net.pt2 --out net
    graft model import old.pt2 --modules net.json --out net

An archive of torch.export holds operators, weights and the paths of modules. export adds what
it lacks: each module's class and what extra_repr() prints, so that graft prints the network as
PyTorch does. export needs PyTorch 2.5 or later, describe any; both need Python 3.9.
"""

from __future__ import annotations

import json
import os
import typing
from typing import Any, Iterable

StrPath = typing.Union[str, "os.PathLike[str]"]

FILE = "graft_modules.json"  # in the archive's folder extra


def modules(net: Any) -> dict[str, Any]:
    """Describes a network's modules in the order of registration, the network itself first."""
    import torch

    plain = torch.nn.Module.__repr__
    lists = torch.nn.ModuleList.__repr__
    found = []

    def add(path: str, module: Any) -> None:
        if module is None:
            found.append({"path": path, "class": "", "print": "None"})
            return
        entry = {"path": path, "class": module._get_name(), "extra": module.extra_repr()}
        printed = type(module).__repr__
        if printed is lists and lists is not plain:
            entry["folds"] = True
        elif printed is not plain:
            entry["print"] = repr(module)
        found.append(entry)
        for name, child in module._modules.items():
            add(f"{path}.{name}" if path else name, child)

    add("", net)
    return {"modules": found}


def describe(net: Any, path: StrPath) -> None:
    """Writes the description of a network's modules as JSON."""
    with open(path, "w", encoding="utf-8") as out:
        json.dump(modules(net), out)


def _checked(inputs: Iterable[Any], batch: bool) -> tuple[Any, ...]:
    """Returns the inputs as a tuple; torch.export's messages do not name the remedies."""
    import torch

    if isinstance(inputs, torch.Tensor):
        raise TypeError("export: inputs is a tensor; pass a tuple, such as (x,)")
    inputs = tuple(inputs)
    if len(inputs) != 1:
        raise ValueError(f"export: inputs has {len(inputs)} tensors; graft imports networks with one input")
    if batch and inputs[0].dim() > 0 and inputs[0].shape[0] < 2:
        raise ValueError(
            f"export: inputs has {inputs[0].shape[0]} examples, so torch.export would fix the batch; give at least 2"
        )
    return inputs


def export(net: Any, inputs: Iterable[Any], path: StrPath, dynamic_shapes: Any = "batch") -> None:
    """Exports a network in eval mode with torch.export, and describes its modules in the archive.

    inputs is a tuple with one tensor. Its dimension 0 is the batch, whose size may change: give
    at least 2 examples. dynamic_shapes is passed on to torch.export; None fixes all sizes. The mode of
    the network is what it was afterwards.
    """
    import torch

    inputs = _checked(inputs, dynamic_shapes == "batch")
    if dynamic_shapes == "batch":
        dynamic_shapes = ({0: torch.export.Dim("batch")},)
    modes = [(module, module.training) for module in net.modules()]
    net.eval()
    try:
        program = torch.export.export(net, inputs, dynamic_shapes=dynamic_shapes)
    finally:
        for module, training in modes:
            module.training = training
    torch.export.save(program, path, extra_files={FILE: json.dumps(modules(net))})
