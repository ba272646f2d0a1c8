"""Network and data of the tests with other libraries."""

import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        return x + self.norm(self.conv(torch.relu(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, 8, 3, padding=1)
        self.block = Residual(8)
        self.drop = nn.Dropout(0.1)
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        x = torch.relu(self.norm1(self.conv1(x)))
        x = torch.relu(self.conv2(nn.functional.max_pool2d(x, 2)))
        return self.fc(self.drop(self.block(x).mean((2, 3))))


torch.set_num_threads(1)
torch.manual_seed(1)
images, labels = torch.randn(240, 1, 8, 8), torch.randint(0, 4, (240,))
