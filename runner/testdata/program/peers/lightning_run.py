"""Trains with PyTorch Lightning: alone if ALONE is set, driven by graft otherwise."""

import os

import lightning
import net
import torch
from torch import nn


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = net.Net()

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        outputs = self.net(x)
        self.log("val_loss", nn.functional.cross_entropy(outputs, y))
        self.log("val_accuracy", (outputs.argmax(1) == y).float().mean())

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.net.parameters(), lr=1e-2)
        each_step = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: 0.97**step)
        each_epoch = torch.optim.lr_scheduler.StepLR(opt, 2, gamma=0.5)
        return [opt], [{"scheduler": each_step, "interval": "step"}, each_epoch]


def loader(images, labels, **options):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, labels), **options)


train = loader(net.images[:200], net.labels[:200], batch_size=32, shuffle=True)
validation = loader(net.images[200:], net.labels[200:], batch_size=20)
options = {"accelerator": "cpu", "logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
module = Module()
if "ALONE" in os.environ:
    lightning.Trainer(max_epochs=2, **options).fit(module, train, validation)
else:
    import graft_lightning

    graft_lightning.fit(module, train, validation, net.images[:2], **options)
torch.save(module.net.state_dict(), os.environ.get("SAVE", os.devnull))
