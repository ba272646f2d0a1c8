"""Trains the network of a module that graft exported, for tests of surgery: drawn.py MODULE SIZE…"""

import importlib.util
import sys

import graft_job
import torch

torch.set_num_threads(1)
job = graft_job.attach()
torch.manual_seed(job.seed)
spec = importlib.util.spec_from_file_location("drawn", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
kind = torch.float64 if "double" in sys.argv else torch.float32
inputs = torch.randn(64, *[int(size) for size in sys.argv[2:] if size != "double"], dtype=kind)
net, opt = job.begin(module.load().to(kind), lambda p: torch.optim.Adam(p, lr=1e-3), inputs)
while job.running():
    net.train()
    for x in job.batches(torch.utils.data.DataLoader(inputs.repeat(8, *[1] * (inputs.dim() - 1)), batch_size=64)):
        loss = net(x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        net, opt = job.step(loss)
    job.validated(loss=0.0)
