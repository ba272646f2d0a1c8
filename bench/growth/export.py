"""Exports the networks of `bench growth` and `bench operators`, for `graft model import`.

  python bench/growth/export.py FOLDER && for n in cnn resnet convnext vit gpt densenet squeezenet separable perceptron transformer; do graft model import FOLDER/$n.pt2 --out FOLDER/$n; done
"""
import pathlib
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import graft_export


class Cnn(nn.Module):
    def __init__(self, w=24, classes=10):
        super().__init__()
        def block(i, o): return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())
        self.conv1, self.conv2, self.conv3 = block(3, w), block(w, 2*w), block(2*w, 2*w)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(2*w, classes)
    def forward(self, x):
        x = self.pool(self.conv1(x)); x = self.pool(self.conv2(x)); x = self.conv3(x)
        return self.fc(x.mean((2, 3)))

class Block(nn.Module):
    def __init__(self, i, o, s):
        super().__init__()
        self.conv1 = nn.Conv2d(i, o, 3, s, 1, bias=False); self.bn1 = nn.BatchNorm2d(o)
        self.conv2 = nn.Conv2d(o, o, 3, 1, 1, bias=False); self.bn2 = nn.BatchNorm2d(o)
        self.down = nn.Sequential(nn.Conv2d(i, o, 1, s, bias=False), nn.BatchNorm2d(o)) if s != 1 or i != o else nn.Identity()
    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.down(x))

class SmallResNet(nn.Module):
    def __init__(self, w=12, classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, w, 3, 1, 1, bias=False), nn.BatchNorm2d(w), nn.ReLU())
        self.layer1, self.layer2, self.layer3 = Block(w, w, 1), Block(w, 2*w, 2), Block(2*w, 4*w, 2)
        self.fc = nn.Linear(4*w, classes)
    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(self.stem(x))))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))

class ConvNeXtBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.dw = nn.Conv2d(d, d, 5, padding=2, groups=d); self.norm = nn.GroupNorm(4, d)
        self.up = nn.Conv2d(d, 3*d, 1); self.down = nn.Conv2d(3*d, d, 1)
    def forward(self, x): return x + self.down(F.gelu(self.up(self.norm(self.dw(x)))))

class SmallConvNeXt(nn.Module):
    def __init__(self, d=24, classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, d, 4, 4)
        self.blocks = nn.Sequential(*[ConvNeXtBlock(d) for _ in range(3)])
        self.head = nn.Linear(d, classes)
    def forward(self, x): return self.head(self.blocks(self.stem(x)).mean((2, 3)))

class Attention(nn.Module):
    def __init__(self, d, heads, causal):
        super().__init__()
        self.qkv, self.proj, self.heads, self.causal = nn.Linear(d, 3*d), nn.Linear(d, d), heads, causal
    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).split(d, 2)
        q, k, v = (z.view(b, t, self.heads, d//self.heads).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.proj(y.transpose(1, 2).reshape(b, t, d))

class Layer(nn.Module):
    def __init__(self, d, heads, causal):
        super().__init__()
        self.ln1, self.attn = nn.LayerNorm(d), Attention(d, heads, causal)
        self.ln2, self.mlp = nn.LayerNorm(d), nn.Sequential(nn.Linear(d, 4*d), nn.GELU(), nn.Linear(4*d, d))
    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))

class SmallViT(nn.Module):
    def __init__(self, d=48, depth=3, classes=10):
        super().__init__()
        self.patch = nn.Conv2d(3, d, 4, 4)
        self.pos = nn.Parameter(0.02*torch.randn(1, 64, d))
        self.blocks = nn.ModuleList([Layer(d, 4, False) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, classes)
    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.pos
        for b in self.blocks: x = b(x)
        return self.head(self.norm(x).mean(1))

class SmallGPT(nn.Module):
    def __init__(self, vocab=64, d=64, depth=3, length=32):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(length, d)
        self.blocks = nn.ModuleList([Layer(d, 4, True) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, vocab, bias=False)
    def forward(self, x):
        h = self.tok(x) + self.pos(torch.arange(x.size(1)))
        for b in self.blocks: h = b(h)
        return self.head(self.norm(h))

def conv(i, o, k=1, s=1): return nn.Sequential(nn.Conv2d(i, o, k, s, k//2, bias=False), nn.BatchNorm2d(o), nn.ReLU())

class DenseNet(nn.Module):
    """Huang et al., Densely Connected Convolutional Networks, 2017."""
    def __init__(self, growth=16, classes=10):
        super().__init__()
        self.stem = conv(3, 2*growth, 3)
        self.first = nn.ModuleList([conv((2+k)*growth, growth, 3) for k in range(3)])
        self.turn = conv(5*growth, 2*growth)
        self.second = nn.ModuleList([conv((2+k)*growth, growth, 3) for k in range(3)])
        self.fc = nn.Linear(5*growth, classes)
    def forward(self, x):
        x = self.stem(x)
        for layer in self.first: x = torch.cat([x, layer(x)], 1)
        x = F.avg_pool2d(self.turn(x), 2)
        for layer in self.second: x = torch.cat([x, layer(x)], 1)
        return self.fc(x.mean((2, 3)))

class Fire(nn.Module):
    def __init__(self, i, squeeze, o):
        super().__init__()
        self.squeeze = nn.Conv2d(i, squeeze, 1)
        self.one, self.three = nn.Conv2d(squeeze, o, 1), nn.Conv2d(squeeze, o, 3, padding=1)
    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.one(x)), F.relu(self.three(x))], 1)

class SqueezeNet(nn.Module):
    """Iandola et al., SqueezeNet, 2016."""
    def __init__(self, classes=10):
        super().__init__()
        self.stem, self.pool = nn.Conv2d(3, 32, 3, 2, 1), nn.MaxPool2d(2)
        self.fires = nn.Sequential(Fire(32, 16, 32), Fire(64, 16, 32), Fire(64, 32, 64))
        self.head = nn.Conv2d(128, classes, 1)
    def forward(self, x): return self.head(self.fires(self.pool(F.relu(self.stem(x))))).mean((2, 3))

class Separable(nn.Module):
    """Howard et al., MobileNets, 2017."""
    def __init__(self, w=32, classes=10):
        super().__init__()
        def pair(i, o, s): return nn.Sequential(nn.Conv2d(i, i, 3, s, 1, groups=i, bias=False), nn.BatchNorm2d(i), nn.ReLU6(), conv(i, o))
        self.layers = nn.Sequential(conv(3, w, 3), pair(w, 2*w, 2), pair(2*w, 2*w, 1), pair(2*w, 4*w, 2), pair(4*w, 4*w, 1))
        self.fc = nn.Linear(4*w, classes)
    def forward(self, x): return self.fc(self.layers(x).mean((2, 3)))

class Perceptron(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(3072, 384), nn.LayerNorm(384), nn.GELU(), nn.Linear(384, 192), nn.GELU(),
                                    nn.Linear(192, 192), nn.GELU(), nn.Linear(192, classes))
    def forward(self, x): return self.layers(x)

class PostNorm(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.attn, self.ln1 = Attention(d, heads, True), nn.LayerNorm(d)
        self.mlp, self.ln2 = nn.Sequential(nn.Linear(d, 3*d), nn.ReLU(), nn.Linear(3*d, d)), nn.LayerNorm(d)
    def forward(self, x):
        x = self.ln1(x + self.attn(x))
        return self.ln2(x + self.mlp(x))

class Transformer(nn.Module):
    """Vaswani et al., Attention Is All You Need, 2017: norms after the sums."""
    def __init__(self, vocab=96, d=96, depth=2, length=64):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Parameter(0.02*torch.randn(1, length, d))
        self.blocks, self.head = nn.ModuleList([PostNorm(d, 3) for _ in range(depth)]), nn.Linear(d, vocab)
    def forward(self, x):
        h = self.tok(x) + self.pos
        for b in self.blocks: h = b(h)
        return self.head(h)

if __name__ == "__main__":
    torch.manual_seed(1)
    out = sys.argv[1]
    for name, net, x in [("cnn", Cnn(), torch.randn(3, 3, 32, 32)), ("resnet", SmallResNet(), torch.randn(3, 3, 32, 32)),
                         ("convnext", SmallConvNeXt(), torch.randn(3, 3, 32, 32)), ("vit", SmallViT(), torch.randn(3, 3, 32, 32)),
                         ("gpt", SmallGPT(), torch.randint(0, 64, (3, 32))), ("densenet", DenseNet(), torch.randn(3, 3, 32, 32)),
                         ("squeezenet", SqueezeNet(), torch.randn(3, 3, 32, 32)), ("separable", Separable(), torch.randn(3, 3, 32, 32)),
                         ("perceptron", Perceptron(), torch.randn(3, 3, 32, 32)), ("transformer", Transformer(), torch.randint(0, 96, (3, 64)))]:
        graft_export.export(net.eval(), (x,), f"{out}/{name}.pt2")
