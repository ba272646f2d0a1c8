"""Makes the files of this folder with PyTorch, which is any version from 1.13
on. Run it here as: python3 make.py

current.pth   the zip format, with what state dicts may hold
legacy.pth    the same in the format from before 1.6
big.pth       current.pth as a big-endian machine writes it, which is: a record
              byteorder that says so, and the storages turned around
expected.json name, type and shape of each tensor; the SHA-256 of its bytes, and of
              its values as float32, both little-endian
"""
import collections
import hashlib
import io
import json
import pickle
import zipfile

import torch

torch.manual_seed(1)
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16,
          torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool]


def state():
    flat = torch.randn(24)
    out = collections.OrderedDict()
    for dtype in DTYPES:
        name = str(dtype).split(".")[1]
        out["types." + name] = (torch.randn(2, 3) * 50).to(dtype)
    out["view.offset"] = flat[4:16].view(3, 4)
    out["view.transposed"] = flat.view(4, 6).t()
    out["view.steps"] = flat[1::5]
    out["view.expanded"] = flat[:3].view(3, 1).expand(3, 4)
    out["single"] = torch.tensor(2.5)
    out["empty"] = torch.empty(0, 4)
    out["one"] = torch.randn(1, 1, 3, 1)
    out["parameter"] = torch.nn.Parameter(torch.randn(3))
    nested = {"bn": torch.nn.BatchNorm1d(2).state_dict(), "list": [torch.ones(2), 0.01], 7: torch.zeros(1)}
    return {"model": out, "nested": nested, "epoch": 12, "lr": 0.1, "note": "fünf",
            "flag": True, "nothing": None, "size": torch.Size([2, 3])}


def flatten(value, name=()):
    if isinstance(value, torch.Tensor):
        yield ".".join(name), value.detach()
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from flatten(item, name + (str(key),))
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from flatten(item, name + (str(i),))


def raw(tensor):
    return bytes(tensor.contiguous().view(-1).view(torch.uint8).tolist()) if tensor.numel() else b""


def big_endian(data):
    source, out = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    keys = storage_keys(source)
    with zipfile.ZipFile(out, "w") as z:
        for record in source.namelist():
            short, content = record.split("/", 1)[1], source.read(record)
            if short.startswith("data/"):
                size = keys[short[5:]]
                content = b"".join(content[i:i + size][::-1] for i in range(0, len(content), size))
            if short != "byteorder":
                z.writestr(zipfile.ZipInfo(record), content)
        z.writestr(zipfile.ZipInfo("archive/byteorder"), b"big")
    return out.getvalue()


def storage_keys(archive):
    """The size of the items of each storage, as the pickle refers to it."""
    found = {}

    class Reader(pickle.Unpickler):
        def find_class(self, module, name):
            return name if "Storage" in name else super().find_class(module, name)

        def persistent_load(self, pid):
            dtype = getattr(torch, pid[1]).dtype
            found[pid[2]] = torch.empty(0, dtype=dtype).element_size()
            return torch.zeros(pid[4], dtype=dtype).storage()

    prefix = archive.namelist()[0].split("/")[0]
    Reader(io.BytesIO(archive.read(prefix + "/data.pkl"))).load()
    return found


STATE = state()
buffer = io.BytesIO()
torch.save(STATE, buffer)
with open("current.pth", "wb") as f:
    f.write(buffer.getvalue())
torch.save(STATE, "legacy.pth", _use_new_zipfile_serialization=False)
with open("big.pth", "wb") as f:
    f.write(big_endian(buffer.getvalue()))
expected = [{"name": n, "dtype": str(t.dtype).split(".")[1], "shape": list(t.shape),
             "bytes": hashlib.sha256(raw(t)).hexdigest(),
             "sha256": hashlib.sha256(raw(t.float())).hexdigest()} for n, t in flatten(STATE)]
with open("expected.json", "w") as f:
    json.dump(expected, f, indent=1)
    f.write("\n")
