"""Trains on the images that a job of graft trains on, in one batch per epoch. With EXPORT=FILE, only exports the network."""

import os
import struct

import graft_job
import torch
from torch import nn


# A bias before a normalisation has no gradient but rounding errors, which Adam would make large.
class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)

    def forward(self, x):
        return x + self.norm(self.conv(torch.relu(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(1, 4, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(4)
        self.conv2, self.block, self.fc = nn.Conv2d(4, 8, 3, stride=2, padding=1), Residual(8), nn.Linear(8, 10)

    def forward(self, x):
        x = torch.relu(self.conv2(torch.relu(self.norm1(self.conv1(x)))))
        return self.fc(self.block(x).mean((2, 3)))


def read(name):
    data = open(os.path.join("data", name), "rb").read()
    sizes = struct.unpack(f">{data[3]}I", data[4 : 4 + 4 * data[3]])
    return torch.frombuffer(bytearray(data[4 + 4 * data[3] :]), dtype=torch.uint8).reshape(sizes)


def images(name):
    return ((read(name).float() / 255 - 0.3) / 0.4)[:, None]


torch.set_num_threads(1)
torch.manual_seed(7)
net = Net()
if "EXPORT" in os.environ:
    shapes = ({0: torch.export.Dim("batch")},)
    program = torch.export.export(net.eval(), (torch.zeros(2, 1, 28, 28),), dynamic_shapes=shapes)
    torch.export.save(program, os.environ["EXPORT"])
    raise SystemExit

job = graft_job.attach()
held = 2  # copies of each image that the job holds out for validation
data = images("train-images-idx3-ubyte").reshape(10, -1, 1, 28, 28)
train, valid = data[:, held:].flatten(0, 1), data[:, :held].flatten(0, 1)
labels = read("train-labels-idx1-ubyte").long().reshape(10, -1)
train_labels, valid_labels = labels[:, held:].flatten(), labels[:, :held].flatten()
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(train, train_labels), batch_size=len(train))
net, opt = job.begin(net, lambda p: torch.optim.AdamW(p, lr=1e-2, weight_decay=0.01), train[:2])
criterion = nn.CrossEntropyLoss()
while job.running():
    net.train()
    for x, y in job.batches(loader):
        outputs = net(x)
        loss = criterion(outputs, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        net, opt = job.step(loss, examples=len(x), correct=int((outputs.argmax(1) == y).sum()))
    net.eval()
    with torch.no_grad():
        outputs = net(valid)
    accuracy = (outputs.argmax(1) == valid_labels).float().mean().item()
    job.validated(loss=criterion(outputs, valid_labels).item(), accuracy=accuracy)
