"""The PyTorch side of bench gpt: a GPT as its authors would write it, in a resident worker.

    twin_gpt.py FILE THREADS [--compile]

FILE has the weights by name and the batches x and y. Each line on stdin is {"cmd": "train", "steps": N}; the answer is
{"seconds", "cpu_seconds", "losses", "peak_mb"}.
"""

import json
import resource
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH, HEADS, DEPTH, BATCH = 128, 4, 4, 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.qkv, self.o = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.ln2, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, HEADS, c // HEADS).transpose(1, 2) for z in self.qkv(self.ln1(x)).split(c, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class GPT(nn.Module):
    def __init__(self, vocabulary, context):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocabulary, WIDTH), nn.Embedding(context, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids):
        x = self.tok(ids) + self.pos.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.tok.weight)


def main():
    torch.set_num_threads(int(sys.argv[2]))
    state = torch.load(sys.argv[1], weights_only=True)
    x, y = state.pop("x"), state.pop("y")
    net = GPT(*(state[name + ".weight"].shape[0] for name in ("tok", "pos")))
    net.load_state_dict(state)
    step = torch.compile(net) if "--compile" in sys.argv else net
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
            losses.append(loss.item())
            at = (at + 1) % (len(x) // BATCH)
        print(json.dumps({"seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - cpu, "losses": losses,
                          "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}), flush=True)


if __name__ == "__main__":
    main()
