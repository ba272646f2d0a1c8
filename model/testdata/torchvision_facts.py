"""Prints what torchvision says of the networks that the zoo takes from it, as JSON.

go test ./model -run Torchvision -update runs it, with the Python that
GRAFT_PYTHON names, and keeps what it prints in torchvision.json.
"""

import hashlib
import json
import re

import torch
import torchvision
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from torchvision.models.resnet import BasicBlock

torch.set_num_threads(1)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def residual(name, blocks):
    """He et al.'s network for small images, of torchvision's blocks."""

    def stage(inside, outside, stride):
        down = None
        if stride != 1:
            down = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))
        first = BasicBlock(inside, outside, stride, down)
        return nn.Sequential(first, *[BasicBlock(outside, outside) for _ in range(blocks - 1)])

    def make(self):
        nn.Module.__init__(self)
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.relu = nn.ReLU(inplace=True)
        self.layer1, self.layer2, self.layer3 = stage(16, 16, 1), stage(16, 32, 2), stage(32, 64, 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.avgpool(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(x, 1))

    return type(name, (nn.Module,), {"__init__": make, "forward": forward})()


def printed(net):
    # Later versions print another option of normalisations, which is always true here.
    return re.sub(r"(affine=True), bias=True", r"\1", str(net))


def outputs(net, size):
    """Each layer as it runs, with the shape that comes out of it."""
    lines = []
    for name, module in net.named_modules():
        if not list(module.children()):
            module.register_forward_hook(lambda _m, _in, out, name=name: lines.append(f"{name} {list(out.shape)[1:]}"))
    with FlopCounterMode(display=False) as flops, torch.no_grad():
        net.eval()(torch.zeros(1, 3, size, size))
    return lines, flops.get_total_flops()


def logits(net):
    """Two images through fresh weights in train mode, without dropout."""
    torch.manual_seed(1)
    for module in net.modules():
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()
        module._forward_hooks.clear()
        if isinstance(module, nn.Dropout):
            module.p = 0
    ramp = (torch.arange(2 * 3 * 64 * 64, dtype=torch.float64) * 37 % 101) / 101 - 0.5
    with torch.no_grad():
        return net.train()(ramp.float().reshape(2, 3, 64, 64))[:, :8].tolist()


def facts(net, size):
    text = printed(net)
    state = net.state_dict()
    count = sum(p.numel() for p in net.parameters())
    ran, flops = outputs(net, size)
    return {
        "lines": len(text.split("\n")),
        "print": digest(text),
        "parameters": count,
        "state": digest("\n".join(f"{name} {list(t.shape)}" for name, t in state.items())),
        "tensors": len(state),
        "outputs": digest("\n".join(ran)),
        "runs": len(ran),
        "flops": flops,
        "logits": logits(net) if count < 20e6 else None,
    }


models = torchvision.models
print(json.dumps({
    "torch": torch.__version__,
    "torchvision": torchvision.__version__,
    "networks": {
        "ResNet18": facts(models.resnet18(), 224),
        "VGG11BN": facts(models.vgg11_bn(), 224),
        "MobileNetV2": facts(models.mobilenet_v2(), 224),
        "CIFARResNet20": facts(residual("CIFARResNet20", 3), 32),
        "CIFARResNet56": facts(residual("CIFARResNet56", 9), 32),
    },
}, indent=1))
