"""Trains a small CNN on Fashion-MNIST (Debian's package dataset-fashion-mnist)."""

import gzip

import graft_job
import torch
from torch import nn

FOLDER = "/usr/share/datasets/fashion-mnist/"
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def images(name, count):
    with gzip.open(FOLDER + name + "-images-idx3-ubyte.gz") as file:
        file.seek(16)
        pixels = torch.frombuffer(bytearray(file.read(count * 784)), dtype=torch.uint8)
    with gzip.open(FOLDER + name + "-labels-idx1-ubyte.gz") as file:
        file.seek(8)
        labels = torch.frombuffer(bytearray(file.read(count)), dtype=torch.uint8)
    return ((pixels.reshape(count, 1, 28, 28) / 255 - 0.286) / 0.353).to(DEVICE), labels.long().to(DEVICE)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(16)
        self.head = nn.Linear(16 * 49, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.norm1(self.conv1(x))), 2)
        x = nn.functional.max_pool2d(torch.relu(self.norm2(self.conv2(x))), 2)
        return self.head(x.flatten(1))


job = graft_job.attach(epochs=2, seed=1)
torch.manual_seed(job.seed)
images_, labels = images("train", 6000)
test_images, test_labels = images("t10k", 1000)
data = torch.utils.data.TensorDataset(images_, labels)
loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True, drop_last=True)
net, opt = job.begin(Net().to(DEVICE), lambda p: torch.optim.AdamW(p, lr=1e-3), images_[:2])
criterion = nn.CrossEntropyLoss()

while job.running():
    net.train()
    for x, y in job.batches(loader):
        with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
            loss = criterion(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        net, opt = job.step(loss)
    net.eval()
    with torch.no_grad():
        outputs = net(test_images)
    accuracy = (outputs.argmax(1) == test_labels).float().mean()
    job.validated(loss=criterion(outputs, test_labels).item(), accuracy=accuracy.item())
    print(f"loss {loss.item():.4f}, accuracy {accuracy.item():.4f}")

torch.save(net.state_dict(), "fashion.pt")
