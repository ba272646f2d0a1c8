"""Trains a convolutional network on random images of CIFAR-10's shape, and prints the seconds that it took.

The images are enlarged on the device. They are random, so that nothing is downloaded: the work is the same.
"""

import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--images", type=int, default=50_000, help="of an epoch")
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--size", type=int, default=64, help="pixels of a side after enlarging")
options = parser.parse_args()

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1)
images = torch.randint(0, 256, (options.images, 3, 32, 32), dtype=torch.uint8)
classes = torch.randint(0, 10, (options.images,))


def block(inputs, outputs, kernel):
    return [nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2), nn.ReLU(), nn.MaxPool2d(2)]


network = nn.Sequential(
    *block(3, 32, 3), *block(32, 64, 3), *block(64, 128, 3), *block(128, 256, 2), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
    nn.Linear(256 * 16, 128), nn.ReLU(), nn.Linear(128, 10),
).to(device)
optimizer = torch.optim.Adam(network.parameters())
start = time.perf_counter()
for epoch in range(options.epochs):
    total, order = 0.0, torch.randperm(options.images)
    for rows in order.split(options.batch):
        batch = images[rows].to(device).float() / 255
        batch = nn.functional.interpolate(batch, size=options.size, mode="bilinear")
        loss = nn.functional.cross_entropy(network(batch), classes[rows].to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    print(f"epoch {epoch + 1}: loss {total / options.images:.4f}", flush=True)
print(f"{options.epochs} epochs on {device}: {time.perf_counter() - start:.2f} s")
