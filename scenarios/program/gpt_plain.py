"""Trains a small GPT on the characters of a text: license texts of Debian."""

import torch
from torch import nn

FOLDER = "/usr/share/common-licenses/"
CONTEXT = 32
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads).unbind(2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, vocabulary, width=32, heads=4, depth=2):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.randn(CONTEXT, width) * 0.02)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.tokens(x) + self.positions)))


torch.manual_seed(1)
text = "".join(open(FOLDER + name, encoding="utf-8").read() for name in ("GPL-2", "GPL-3", "Apache-2.0"))
alphabet = {c: k for k, c in enumerate(sorted(set(text)))}
codes = torch.tensor([alphabet[c] for c in text], device=DEVICE)
windows = codes[: len(codes) // CONTEXT * CONTEXT].view(-1, CONTEXT)[:1600]
held_out, windows = windows[:100], windows[100:]
loader = torch.utils.data.DataLoader(windows, batch_size=32, shuffle=True, drop_last=True)
net = GPT(len(alphabet)).to(DEVICE)
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)


def loss_on(batch):
    with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
        return nn.functional.cross_entropy(net(batch)[:, :-1].flatten(0, 1), batch[:, 1:].flatten())


for epoch in range(2):
    net.train()
    for batch in loader:
        loss = loss_on(batch)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        validation = loss_on(held_out).item()
    print(f"loss {loss.item():.4f}, on held-out text {validation:.4f}")

torch.save(net.state_dict(), "gpt.pt")
