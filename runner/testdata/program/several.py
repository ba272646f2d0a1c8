"""A program whose network has several inputs, some by keyword, sequences of several lengths, and outputs in a dictionary."""

import graft_job
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.side = nn.Embedding(50, 16), nn.Linear(4, 16)
        self.block, self.drop, self.head = Block(), nn.Dropout(0.1), nn.Linear(16, 3)

    def forward(self, tokens, *, side, mask=None, more=None):
        x = self.words(tokens)
        if mask is not None:
            x = x * mask[..., None]
        x = self.drop(self.block(x.mean(1) + torch.relu(self.side(side))))
        return {"logits": self.head(x), "mean": x.mean(1), "more": more}


torch.set_num_threads(1)
job = graft_job.attach(epochs=2, seed=1)
torch.manual_seed(job.seed)
tokens, side, mask = torch.randint(0, 50, (256, 12)), torch.randn(256, 4), torch.ones(256, 12)
labels = torch.randint(0, 3, (256,))
data = torch.utils.data.TensorDataset(tokens, side, mask, labels)
loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)
batch, length = torch.export.Dim("batch"), torch.export.Dim("length", min=2, max=64)
net, opt = job.begin(
    Net(),
    lambda p: torch.optim.AdamW(p, lr=1e-2),
    {"tokens": tokens[:2], "side": side[:2], "mask": mask[:2]},
    dynamic_shapes={"tokens": {0: batch, 1: length}, "side": {0: batch}, "mask": {0: batch, 1: length}},
)
while job.running():
    net.train()
    for t, s, m, y in job.batches(loader):
        n = 6 + job.batch % 7
        outputs = net(t[:, :n], side=s, mask=m[:, :n])
        assert outputs["more"] is None and outputs["mean"].shape == y.shape
        loss = nn.functional.cross_entropy(outputs["logits"], y)
        if job.teacher is not None:
            taught = job.teacher(t[:, :n], side=s, mask=m[:, :n])["logits"]
            loss = loss + job.teacher_share * (outputs["logits"] - taught).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        net, opt = job.step(loss, examples=len(y))
    net.eval()
    with torch.no_grad():
        logits = net(tokens=tokens, side=side, mask=mask)["logits"]
    job.validated(
        loss=nn.functional.cross_entropy(logits, labels).item(),
        accuracy=(logits.argmax(1) == labels).float().mean().item(),
    )
