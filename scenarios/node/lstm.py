"""Trains an LSTM to continue sine waves, and prints the seconds that it took."""

import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--sequences", type=int, default=10_000)
parser.add_argument("--length", type=int, default=200, help="values of a sequence")
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--units", type=int, default=50)
options = parser.parse_args()

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1)
phases = 2 * torch.pi * torch.rand(options.sequences, 1)
waves = torch.sin(phases + 0.1 * torch.arange(options.length + 1)).to(device)
lstm, head = nn.LSTM(1, options.units, batch_first=True).to(device), nn.Linear(options.units, 1).to(device)
optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()])
start = time.perf_counter()
for epoch in range(options.epochs):
    total = 0.0
    for batch in waves[torch.randperm(options.sequences, device=device)].split(options.batch):
        states, _ = lstm(batch[:, :-1, None])
        loss = nn.functional.mse_loss(head(states[:, -1])[:, 0], batch[:, -1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    print(f"epoch {epoch + 1}: loss {total / options.sequences:.6f}", flush=True)
print(f"{options.epochs} epochs on {device}: {time.perf_counter() - start:.2f} s")
