"""Trains a network of modules that graft exported, for tests of surgery: drawn.py MODULE SIZE… [double] [several]"""

import importlib.util
import sys

import graft_job
import torch

torch.set_num_threads(1)
job = graft_job.attach()
torch.manual_seed(job.seed)
kind = torch.float64 if "double" in sys.argv else torch.float32
sizes = [int(size) for size in sys.argv[2:] if size.isdigit()]
inputs = torch.randn(64, *sizes, dtype=kind)


def read_network():
    spec = importlib.util.spec_from_file_location("drawn", sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    net = module.load().to(kind)
    for layer in net.modules():
        if isinstance(layer, torch.nn.modules.dropout._DropoutNd):
            layer.p = 0.0  # masks of other sizes would hide what surgery changes
    return net


class Several(torch.nn.Module):
    """A network with several inputs, a keyword argument, and outputs in a dictionary."""

    def __init__(self):
        super().__init__()
        self.first, self.second = read_network(), read_network()

    def forward(self, x, other, *, scale, flag=None):
        a, b = self.first(x), self.second(other)
        return {"sum": a + b * scale[:, :1], "parts": (a, b.square()), "flag": flag, "scale": scale}


several = "several" in sys.argv
scale = torch.rand(64, 2, dtype=kind)
arguments = {"x": inputs, "other": inputs.flip(0), "scale": scale} if several else inputs
net, opt = job.begin(Several() if several else read_network(), lambda p: torch.optim.Adam(p, lr=1e-3), arguments)


def run(x):
    outputs = net(x, other=x.flip(0), scale=scale) if several else net(x)
    return outputs["sum"] + outputs["parts"][0] + outputs["parts"][1] if several else outputs


def probe():
    """Returns the outputs in train mode, and changes nothing."""
    buffers = {name: value.clone() for name, value in net.named_buffers()}
    with torch.no_grad():
        outputs = run(inputs)
        for name, value in net.named_buffers():
            value.copy_(buffers[name])
    return outputs


before, changes = None, 0
while job.running():
    net.train()
    for x in job.batches(torch.utils.data.DataLoader(inputs.repeat(8, *[1] * len(sizes)), batch_size=64)):
        if job.changes > changes:
            moved = ((probe() - before).abs().max() / max(1, before.abs().max())).item()
            print("train mode: outputs moved by", moved)
            if moved > (1e-8 if kind is torch.float64 else 1e-4):
                raise RuntimeError(f"surgery changed the outputs in train mode by {moved}")
            changes = job.changes
        loss = run(x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        before = probe()
        net, opt = job.step(loss)
    job.validated(loss=0.0)
