"""The PyTorch side of bench gpt: a GPT as its authors would write it, in a resident worker.

    twin_gpt.py -file FILE -width N -heads N -depth N -threads N -device DEVICE -precision float32|tf32 [--compile [--graphs]]

FILE has the weights by name and the batches x and y. Each line on stdin is {"cmd": "train", "steps": N}; the answer is
{"seconds", "cpu_seconds", "losses", "peak_mb"}.
"""

import argparse
import json
import resource
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 32


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.qkv, self.o = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.ln2, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, self.heads, c // self.heads).transpose(1, 2) for z in self.qkv(self.ln1(x)).split(c, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class GPT(nn.Module):
    def __init__(self, vocabulary, context, width, heads, depth):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        x = self.tok(ids) + self.pos.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.tok.weight)


def options():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("-file", required=True)
    for name in ("width", "heads", "depth", "context", "threads"):
        parser.add_argument("-" + name, type=int, required=True)
    parser.add_argument("-device", default="cpu")
    parser.add_argument("-precision", choices=["float32", "tf32"], default="float32")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--graphs", action="store_true", help="with --compile: record CUDA graphs")
    return parser.parse_args()


def main():
    o = options()
    torch.set_num_threads(o.threads)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = o.precision == "tf32"
    state = torch.load(o.file, weights_only=True)
    x, y = state.pop("x").to(o.device), state.pop("y").to(o.device)
    net = GPT(*(state[name + ".weight"].shape[0] for name in ("tok", "pos")), o.width, o.heads, o.depth)
    net.load_state_dict(state)
    net.to(o.device)
    step = torch.compile(net, mode="reduce-overhead" if o.graphs else None) if o.compile else net
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01, fused=True)
    at = 0
    for line in sys.stdin:
        losses = []
        cpu, began = time.process_time(), time.perf_counter()
        for _ in range(json.loads(line)["steps"]):
            rows = slice(at * BATCH, (at + 1) * BATCH)
            logits = step(x[rows])
            loss = F.cross_entropy(logits.flatten(0, 1), y[rows].flatten())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
            at = (at + 1) % (len(x) // BATCH)
        losses = [loss.item() for loss in losses]  # waits for the device once, as graft does
        print(json.dumps({"seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - cpu, "losses": losses,
                          "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}), flush=True)


if __name__ == "__main__":
    main()
