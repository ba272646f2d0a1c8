"""PyTorch's side of the comparison of processes that train together: DistributedDataParallel over Gloo.

    python twin_ddp.py --processes N --steps N

Each process has one thread and its part of a batch. The first prints the images a second of all, as JSON.
"""

import argparse
import json
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch.nn import functional

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from twin import BATCH, Network

WARM = 20  # steps before the clock starts


def work(rank, options):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    network = Network()
    if options.processes > 1:
        dist.init_process_group("gloo", init_method="tcp://127.0.0.1:%d" % options.port, rank=rank, world_size=options.processes)
        network = torch.nn.parallel.DistributedDataParallel(network)
    network.train()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    part = BATCH // options.processes
    images, labels = torch.randn(50 * part, 3, 32, 32), torch.arange(50 * part) % 10
    began = 0
    for step in range(WARM + options.steps):
        if step == WARM:
            began = time.perf_counter()
        at = step % 50 * part
        optimizer.zero_grad()
        functional.cross_entropy(network(images[at : at + part]), labels[at : at + part]).backward()
        optimizer.step()
    if rank == 0:
        print(json.dumps({"images_per_second": options.steps * part * options.processes / (time.perf_counter() - began)}), flush=True)
    if options.processes > 1:
        dist.barrier()
        dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--port", type=int, default=29555)
    options = parser.parse_args()
    if options.processes == 1:
        work(0, options)
    else:
        multiprocessing.spawn(work, args=(options,), nprocs=options.processes)


if __name__ == "__main__":
    main()
