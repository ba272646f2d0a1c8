"""Trains a small CNN, alone or as a job, and writes the seconds of each epoch and the peak memory.

Each epoch has 100 steps of about 10 ms.
"""

import json
import os
import resource
import time

import graft_job
import torch
from torch import nn

torch.set_num_threads(1)
job = graft_job.attach(epochs=int(os.environ["EPOCHS"]), seed=1)
torch.manual_seed(job.seed)
images, labels = torch.randn(3200, 1, 28, 28), torch.randint(0, 10, (3200,))
net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(32 * 49, 10),
)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, labels), batch_size=32, shuffle=True)
criterion = nn.CrossEntropyLoss()
net, opt = job.begin(net, lambda p: torch.optim.AdamW(p, lr=1e-3), images[:2])
seconds = []
while job.running():
    began = time.perf_counter()
    for x, y in job.batches(loader):
        loss = criterion(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        net, opt = job.step(loss)
    seconds.append(time.perf_counter() - began)
    job.validated(loss=0.0)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with open(os.environ["OUT"], "w", encoding="utf-8") as out:
    json.dump({"seconds": seconds, "peak_kib": peak}, out)
