"""Trains a network of GroMo: alone if ALONE is set, driven by graft otherwise."""

import os

import graft_job
import net
import torch
from gromo.containers.resnet import init_full_resnet_structure
from torch import nn


def train(network, opt, batches, step):
    network.train()
    for x, y in batches:
        loss = nn.functional.cross_entropy(network(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        step(loss)


def validate(network):
    network.eval()
    with torch.no_grad():
        outputs = network(net.images[200:])
    accuracy = (outputs.argmax(1) == net.labels[200:]).float().mean()
    return nn.functional.cross_entropy(outputs, net.labels[200:]), accuracy


network = init_full_resnet_structure(
    (1, 8, 8),
    out_features=4,
    small_inputs=True,
    hidden_channels=(6, 6),
    inplanes=8,
    nb_stages=2,
    device=torch.device("cpu"),
)
opt = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
data = torch.utils.data.TensorDataset(net.images[:200], net.labels[:200])
loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)
if "ALONE" in os.environ:
    for _ in range(2):
        train(network, opt, loader, lambda loss: None)
        validate(network)
else:
    job = graft_job.attach(epochs=2, seed=1)
    job.begin(network, opt, net.images[:2])
    while job.running():
        train(network, opt, job.batches(loader), job.step)
        job.validated(*validate(network))
torch.save(network.state_dict(), os.environ.get("SAVE", os.devnull))
