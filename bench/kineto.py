"""Records training steps of networks in PyTorch, for `bench kineto`.

  python bench/kineto.py < PLAN > RESULT

The plan is a JSON object: "threads", "rounds", "traced" (steps in a trace), and "networks", a list of objects with "name",
"batch", "module" (path of a Python file), "class" (class of the network in the file), "trace" (path of the trace to
write; empty means none), "shape" (of an example), "tokens" (size of the vocabulary; 0 means that the input has pixels)
and "classes". The result has the processor seconds of each round of each network, without the profiler. Networks take
turns, so that other load on the machine affects all of them.
"""
import importlib.util
import json
import os
import sys
import time

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, schedule

STEPS = 3  # steps of a network in a round; the round is their minimum


class Subject:
    def __init__(self, n):
        spec = importlib.util.spec_from_file_location(n["name"], n["module"])
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        torch.manual_seed(1)
        self.net = getattr(module, n["class"])()
        with torch.no_grad():
            for p in self.net.parameters():
                p.uniform_(-0.05, 0.05)
        self.net.train()
        batch, shape = n["batch"], n["shape"]
        self.x = torch.randint(0, n["tokens"], [batch] + shape) if n["tokens"] else torch.randn([batch] + shape)
        self.y = torch.randint(0, n["classes"], [batch] + shape if n["tokens"] else [batch])
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.001, momentum=0.9)

    def step(self):
        self.opt.zero_grad()
        out = self.net(self.x)
        F.cross_entropy(out.flatten(0, -2), self.y.flatten()).backward()
        self.opt.step()

    def seconds(self):
        times = []
        for _ in range(STEPS):
            start = time.process_time()
            self.step()
            times.append(time.process_time() - start)
        return min(times)

    def trace(self, path, count):
        waits = schedule(wait=0, warmup=2, active=count, repeat=1)
        with profile(activities=[ProfilerActivity.CPU], schedule=waits, record_shapes=True) as p:
            for _ in range(2 + count):
                self.step()
                p.step()
        p.export_chrome_trace(path)


def main():
    plan = json.load(sys.stdin)
    torch.set_num_threads(plan["threads"])
    subjects = [Subject(n) for n in plan["networks"]]
    for s in subjects:
        for _ in range(3):
            s.step()
    for s, n in zip(subjects, plan["networks"]):
        if n["trace"]:
            s.trace(n["trace"], plan["traced"])
    rounds = [[s.seconds() for s in subjects] for _ in range(plan["rounds"])]
    json.dump({"torch": torch.__version__, "load": os.getloadavg()[0],
               "seconds": [[r[k] for r in rounds] for k in range(len(subjects))]}, sys.stdout)


main()
