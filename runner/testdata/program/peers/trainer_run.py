"""Trains with the Trainer of Hugging Face: alone if ALONE is set, driven by graft otherwise."""

import os
import tempfile

import net
import torch
import transformers
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = net.Net()

    def forward(self, pixels, labels):
        logits = self.net(pixels)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def examples(images, labels):
    return [{"pixels": x, "labels": y} for x, y in zip(images, labels)]


def metrics(prediction):
    return {"accuracy": float((prediction.predictions.argmax(1) == prediction.label_ids).mean())}


alone = "ALONE" in os.environ
args = transformers.TrainingArguments(
    tempfile.mkdtemp(),
    num_train_epochs=2 if alone else 1000,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=20,
    learning_rate=1e-2,
    lr_scheduler_type="inverse_sqrt",
    warmup_steps=5,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    seed=1,
)
parts = {
    "train_dataset": examples(net.images[:200], net.labels[:200]),
    "eval_dataset": examples(net.images[200:], net.labels[200:]),
    "compute_metrics": metrics,
}
if alone:
    trainer = transformers.Trainer(Model(), args, **parts)
    trainer.train()
else:
    import graft_trainer

    trainer = graft_trainer.train(Model(), args, net.images[:2], **parts)
torch.save(trainer.model.net.state_dict(), os.environ.get("SAVE", os.devnull))
os.rmdir(args.output_dir)
