"""Multiplies two random matrices, and prints the seconds that it took."""

import argparse
import time

import torch

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--size", type=int, default=5000, help="rows and columns of a matrix")
parser.add_argument("--repeats", type=int, default=1, help="products")
options = parser.parse_args()

device = "cuda" if torch.cuda.is_available() else "cpu"
start = time.perf_counter()
for _ in range(options.repeats):
    a, b = (torch.rand(options.size, options.size, device=device) for _ in range(2))
    total = (a @ b).sum().item()  # waits for the device
print(f"matrix product of {options.size} on {device}: {time.perf_counter() - start:.2f} s, sum {total:.6g}")
