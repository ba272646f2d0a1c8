"""The PyTorch side of the benchmarks: a resident worker in plain PyTorch.

The worker reads one JSON object per line on stdin and answers with one JSON
object per line on stdout, so that a driver can let two workers take turns in
short bursts and compare them on the same minute of the same machine. Everything
else that is printed goes to stderr. It runs on any PyTorch from 1.13 on.

Commands and their answers:

    {"cmd": "info"}                {"python", "torch", "threads", "compile", "device"}
    {"cmd": "train", "steps": 20}  {"seconds", "cpu_seconds", "losses"}
    {"cmd": "ops", "iterations": 9} {"seconds", "cpu_seconds", "value", "losses"}
    {"cmd": "epoch", "iterations": 1}  {"seconds", "cpu_seconds"}
    {"cmd": "job", "network": "net.py", "steps": 400, "iterations": 8}  {"seconds", "cpu_seconds"}
    {"cmd": "learn", "iterations": 20}  {"seconds", "cpu_seconds", "losses"}
    {"cmd": "surgery", "network": "MLP", "action": "widen:1:2560", "iterations": 5}
                                   {"seconds", "cpu_seconds"}
    {"cmd": "quit"}                no answer; the worker ends

"seconds" is wall time and "cpu_seconds" user and system time of the process,
both of the burst alone. A loss is a float32 written so that it reads back
exactly. A command that fails is answered with {"error", "remedy"}; a worker that
cannot start prints the same and ends with code 3.
"""

import argparse
import copy
import importlib.util
import json
import os
import platform
import resource
import sys
import time

BATCH = 64
WIDTH = 16  # of the operands in the operator chain
CANNOT_START = 3


class Refused(Exception):
    """An error that knows what to do about it."""

    def __init__(self, message, remedy):
        super().__init__(message)
        self.remedy = remedy


try:
    import torch
    import torch.nn.functional as functional
except Exception as cause:  # a broken installation raises more than ImportError
    print(json.dumps({"error": "import torch: %s" % cause, "remedy": "install python3-torch"}))
    sys.exit(CANNOT_START)


class Network(torch.nn.Module):
    """The network that both sides train; its names are those of the weights file."""

    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, 32, 3)
        self.bn1 = torch.nn.BatchNorm2d(32)
        self.conv2 = torch.nn.Conv2d(32, 32, 3)
        self.bn2 = torch.nn.BatchNorm2d(32)
        self.fc = torch.nn.Linear(32, 10)

    def forward(self, x):
        x = functional.relu(self.bn1(self.conv1(x)))
        x = functional.avg_pool2d(x, 2)
        x = functional.relu(self.bn2(self.conv2(x)))
        x = functional.adaptive_avg_pool2d(x, 1)
        return self.fc(torch.flatten(x, 1))


def read_file(path, flag):
    """Reads a .pth file of tensors and runs nothing that is in it."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as cause:
        raise Refused("read %s: %s" % (path, cause), "give %s a .pth file that holds only tensors" % flag)


class Images:
    """Batches taken in file order, without end: after the last image comes the first."""

    def __init__(self, path, device):
        data = read_file(path, "--data")
        try:
            self.x, self.y = data["x"].to(device), data["y"].to(device)
        except (KeyError, TypeError):
            raise Refused("read %s: no tensors x and y in it" % path, "store float32 x [N,3,32,32] and int64 y [N]")
        if len(self.x) < BATCH or len(self.x) != len(self.y):
            raise Refused(
                "read %s: %d images and %d labels" % (path, len(self.x), len(self.y)),
                "store at least %d of each, and as many of one as of the other" % BATCH,
            )
        self.at = 0

    def batch(self):
        start, count = self.at, len(self.x)
        self.at = (start + BATCH) % count
        if start + BATCH <= count:
            return self.x[start : start + BATCH], self.y[start : start + BATCH]
        rest = start + BATCH - count
        return torch.cat([self.x[start:], self.x[:rest]]), torch.cat([self.y[start:], self.y[:rest]])


class Job:
    """A network in training."""

    def __init__(self, options):
        if not options.data or not options.weights:
            raise Refused("train: no weights or no data", "start the worker with --weights FILE and --data FILE")
        self.images = Images(options.data, options.device)
        network = Network()
        try:
            network.load_state_dict(read_file(options.weights, "--weights"))
        except (RuntimeError, TypeError) as cause:
            raise Refused("read %s: %s" % (options.weights, cause), "write it for the network in this program")
        network.to(options.device).train()
        self.optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)

        def loss(x, y):
            return functional.cross_entropy(network(x), y)

        self.loss = torch.compile(loss) if options.compile else loss

    def step(self):
        x, y = self.images.batch()
        self.optimizer.zero_grad()
        loss = self.loss(x, y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class Chain:
    """Nine operators in a row on tensors too small to hide what a call costs."""

    def __init__(self, device):
        def grid(rows, columns, period, scale):
            # Small multiples of a power of two: exact in float32 on any side.
            cells = [[(r * columns + c) % period - period // 2 for c in range(columns)] for r in range(rows)]
            return (torch.tensor(cells, dtype=torch.float32) * scale).to(device)

        self.x = grid(1, WIDTH, 5, 1 / 8)
        self.w1 = grid(WIDTH, WIDTH, 17, 1 / 64)
        self.b1 = grid(1, WIDTH, 7, 1 / 32)[0]
        self.w2 = grid(WIDTH, WIDTH, 13, 1 / 64)

    def run(self):
        h = torch.tanh(self.x @ self.w1 + self.b1)
        h = torch.sigmoid(h @ self.w2)
        h = torch.relu(h + self.x)
        return functional.log_softmax(h, 1).sum()


class Bytes(torch.utils.data.Dataset):
    """Images kept as bytes and normalised one by one, as image pipelines do."""

    def __init__(self, count):
        self.images = torch.randint(0, 256, (count, 3, 32, 32), dtype=torch.uint8)
        self.labels = torch.arange(count) % 10

    def __len__(self):
        return len(self.images)

    def __getitem__(self, k):
        return (self.images[k].float().div(255) - 0.5) / 0.5, self.labels[k]


class Photographs(torch.utils.data.Dataset):
    """Images of a folder of classes, their central square resized, as torchvision's ImageFolder reads them."""

    def __init__(self, folder):
        self.paths = sorted(os.path.join(top, name) for top, _, names in os.walk(folder) for name in names)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, k):
        from PIL import Image

        with Image.open(self.paths[k]) as image:
            side = min(image.size)
            left, top = (image.width - side) // 2, (image.height - side) // 2
            square = image.convert("RGB").resize((224, 224), Image.BOX, (left, top, left + side, top + side))
        return torch.frombuffer(bytearray(square.tobytes()), dtype=torch.uint8).view(224, 224, 3).permute(2, 0, 1)


class WholeJob:
    """The steps and evaluations of a whole job, on the network of an exported module."""

    def __init__(self, path):
        spec = importlib.util.spec_from_file_location("job", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.network = module.load()
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=0.01)
        self.images, self.labels = torch.randn(3600, 3, 32, 32), torch.arange(3600) % 10
        self.others = torch.randn(400, 3, 32, 32)

    def run(self, steps, evaluations):
        for k in range(steps):
            if k % 57 == 0:
                order = torch.randperm(len(self.images))
            rows = order[64 * (k % 57) : 64 * (k % 57) + 64]
            self.network.train()
            loss = functional.cross_entropy(self.network(self.images[rows]), self.labels[rows])
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
        self.network.eval()
        with torch.no_grad():
            for _ in range(evaluations):
                for rows in self.others.split(128):
                    self.network(rows)


class Epoch:
    """What a job does in an epoch: train in a new order, evaluate on other images."""

    def __init__(self):
        self.network = surgical("ConvNet2")
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3)
        self.train = torch.utils.data.DataLoader(Bytes(3200), batch_size=BATCH, shuffle=True)
        self.test = torch.utils.data.DataLoader(Bytes(640), batch_size=BATCH)

    def run(self):
        self.network.train()
        loss_sum, correct = 0.0, 0
        for x, y in self.train:
            self.optimizer.zero_grad()
            logits = self.network(x)
            loss = functional.cross_entropy(logits, y)
            loss.backward()
            self.optimizer.step()
            loss_sum += loss.item()
            correct += (logits.argmax(1) == y).sum().item()
        self.network.eval()
        with torch.no_grad():
            for x, y in self.test:
                correct += (self.network(x).argmax(1) == y).sum().item()
        return loss_sum, correct


class Resident:
    """The same with the images on the device, without a wait in an epoch."""

    def __init__(self, options):
        device, count = options.device, options.resident
        self.network = surgical("ConvNet2").to(device)
        gpu = device != "cpu"
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3, **({"fused": True, "capturable": True} if gpu else {}))
        self.images = torch.randint(0, 256, (count + count // 5, 3, 32, 32), dtype=torch.uint8).to(device)
        self.labels = (torch.arange(len(self.images)) % 10).to(device)
        self.count, self.device = count, device

        def loss(x, y):
            logits = self.network((x.float().div(255) - 0.5) / 0.5)
            return functional.cross_entropy(logits, y), (logits.argmax(1) == y).sum()

        mode = "reduce-overhead" if options.graphs else None
        self.loss = torch.compile(loss, mode=mode) if options.compile else loss

    def run(self):
        self.network.train()
        total = torch.zeros((), device=self.device)
        for rows in torch.randperm(self.count, device=self.device).split(BATCH):
            self.optimizer.zero_grad(set_to_none=True)
            loss, correct = self.loss(self.images[rows], self.labels[rows])
            loss.backward()
            self.optimizer.step()
            total += loss.detach()
        self.network.eval()
        with torch.no_grad():
            for at in range(self.count, len(self.images), 2 * BATCH):
                _, correct = self.loss(self.images[at : at + 2 * BATCH], self.labels[at : at + 2 * BATCH])
                total += correct
        return total.item()


def block(*layers):
    return torch.nn.Sequential(*layers)


def surgical(name):
    """The networks that are operated on, in blocks that can be deepened."""
    nn = torch.nn
    if name == "ConvNet2":
        return block(
            block(nn.Conv2d(3, 32, 3), nn.BatchNorm2d(32), nn.ReLU()),
            nn.AvgPool2d(2),
            block(nn.Conv2d(32, 32, 3), nn.BatchNorm2d(32), nn.ReLU()),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            block(nn.Linear(32, 10), nn.ReLU()),
        )
    if name == "MLP":
        return block(
            nn.Flatten(),
            block(nn.Linear(3072, 2048), nn.ReLU()),
            block(nn.Linear(2048, 2048), nn.ReLU()),
            nn.Linear(2048, 10),
        )
    raise Refused("surgery: no network %r" % (name,), "ask for ConvNet2 or MLP")


def deepen(network, at):
    """As the original did: a copy of the block whose layers are replaced, put behind it."""
    old = network[at]
    new = copy.deepcopy(old)
    first = old[0]
    if isinstance(first, torch.nn.Linear):
        layer = torch.nn.Linear(first.out_features, first.out_features)
        torch.nn.init.eye_(layer.weight)
        layers = [layer]
    else:
        layer = torch.nn.Conv2d(first.out_channels, first.out_channels, first.kernel_size, padding=first.kernel_size[0] // 2)
        torch.nn.init.dirac_(layer.weight)
        layers = [layer, torch.nn.BatchNorm2d(first.out_channels)]
    torch.nn.init.zeros_(layer.bias)
    for k, module in enumerate(layers):
        new[k] = module
    network[at] = block(old, new)


def widen(network, at, width):
    """Net2WiderNet as its paper has it, between two linear layers."""
    first, second = network[at][0], network[at + 1][0]
    old = first.out_features
    mapping = torch.cat([torch.arange(old), torch.randint(old, (width - old,))])
    counts = torch.bincount(mapping, minlength=old)
    wide = torch.nn.Linear(first.in_features, width)
    wide.weight.data = first.weight.data[mapping]
    wide.bias.data = first.bias.data[mapping]
    narrow = torch.nn.Linear(width, second.out_features)
    narrow.weight.data = second.weight.data[:, mapping] / counts[mapping]
    narrow.bias.data = second.bias.data.clone()
    network[at][0], network[at + 1][0] = wide, narrow


def timed(body):
    """Runs body, which must wait for its own result, and says what it took."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = body()
    return result, {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}


def positive(command, key):
    """The count that a command carries."""
    count = command.get(key)
    if not isinstance(count, int) or count < 1:
        raise Refused("%s: %s is %r" % (command["cmd"], key, count), "give a whole number from 1 on")
    return count


class Worker:
    """Answers commands; what a command needs is made when it is first asked for."""

    def __init__(self, options):
        self.options = options
        self.job = Job(options) if options.data or options.weights else None
        self.chain = Chain(options.device)
        self.epochs = None
        self.jobs = None

    def info(self, command):
        return {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            "compile": self.options.compile,
            "device": self.options.device,
        }

    def train(self, command):
        steps = positive(command, "steps")
        if self.job is None:
            self.job = Job(self.options)

        def burst():
            losses = [self.job.step() for _ in range(steps)]
            losses[-1].item()  # a device that works ahead is waited for here
            return losses

        losses, answer = timed(burst)
        answer["losses"] = [loss.item() for loss in losses]
        return answer

    def ops(self, command):
        iterations = positive(command, "iterations")

        def burst():
            with torch.no_grad():
                for _ in range(iterations):
                    last = self.chain.run()
            return last.item()

        value, answer = timed(burst)
        answer["value"], answer["losses"] = value, [value]
        return answer

    def epoch(self, command):
        if self.epochs is None:
            self.epochs = Resident(self.options) if self.options.resident else Epoch()

        def burst():
            for _ in range(positive(command, "iterations")):
                self.epochs.run()

        _, answer = timed(burst)
        answer["losses"] = []
        answer["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return answer

    def stream(self, command):
        if importlib.util.find_spec("PIL") is None:
            raise Refused("stream: there is no Pillow", "install python3-pil")
        images = Photographs(command["network"])
        loader = torch.utils.data.DataLoader(images, batch_size=BATCH, shuffle=True, num_workers=2)
        _, answer = timed(lambda: sum(len(x) for x in loader))
        answer["losses"] = []
        answer["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return answer

    def whole_job(self, command):
        if self.jobs is None:
            self.jobs = WholeJob(command.get("network"))
        _, answer = timed(lambda: self.jobs.run(positive(command, "steps"), positive(command, "iterations")))
        answer["losses"] = []
        return answer

    def surgery(self, command):
        network = surgical(command.get("network"))
        kind, at, *size = command["action"].split(":")
        total = {"seconds": 0.0, "cpu_seconds": 0.0}
        for _ in range(positive(command, "iterations")):
            twin = copy.deepcopy(network)

            def operation():
                with torch.no_grad():
                    if kind == "deepen":
                        deepen(twin, int(at))
                    else:
                        widen(twin, int(at), int(size[0]))

            _, took = timed(operation)
            for key in total:
                total[key] += took[key]
        total["losses"] = []
        return total

    def learn(self, command):
        import twin_learn

        if not self.options.lesson:
            raise Refused("learn: no table", "start the worker with --lesson FILE")
        learner = twin_learn.Learner(self.options.lesson)
        episodes = positive(command, "iterations")
        losses, answer = timed(lambda: [learner.episode() for _ in range(episodes)])
        answer["losses"] = losses
        return answer

    def answer(self, line):
        commands = {
            "info": self.info,
            "train": self.train,
            "ops": self.ops,
            "epoch": self.epoch,
            "stream": self.stream,
            "job": self.whole_job,
            "learn": self.learn,
            "surgery": self.surgery,
        }
        try:
            command = json.loads(line)
            name = command["cmd"]
        except (ValueError, KeyError, TypeError):
            raise Refused("not a command: %s" % line.strip(), 'send {"cmd": NAME} on one line')
        if name not in commands:
            raise Refused("unknown command %r" % (name,), "send one of: info, train, ops, epoch, job, learn, surgery, quit")
        return commands[name](command)


def is_quit(line):
    try:
        return json.loads(line).get("cmd") == "quit"
    except (ValueError, AttributeError):
        return False


def explained(cause):
    """An error as an answer."""
    remedy = getattr(cause, "remedy", "see this worker's stderr, or run the command by hand")
    return {"error": str(cause) or type(cause).__name__, "remedy": remedy}


def serve(worker, answers):
    for line in iter(sys.stdin.readline, ""):
        if not line.strip():
            continue
        if is_quit(line):
            return
        try:
            answer = worker.answer(line)
        except Exception as cause:  # the driver decides whether to go on
            answer = explained(cause)
        send(answers, answer)


def send(answers, answer):
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def parse(arguments):
    parser = argparse.ArgumentParser(description="Train and time a small network in plain PyTorch, as told on stdin.")
    parser.add_argument("--threads", type=int, default=1, help="threads within an operator (default: 1)")
    parser.add_argument("--compile", action="store_true", help="compile forward and loss with torch.compile")
    parser.add_argument("--graphs", action="store_true", help="with --compile: record CUDA graphs")
    parser.add_argument("--resident", type=int, default=0, help="images of an epoch, which lie on the device (default: read by a DataLoader)")
    parser.add_argument("--weights", help=".pth with the network's state dictionary")
    parser.add_argument("--data", help=".pth with x, float32 [N,3,32,32], and y, int64 [N]")
    parser.add_argument("--lesson", help=".json with the table that a policy learns from")
    parser.add_argument("--device", default="cpu", help="device to run on (default: cpu)")
    return parser.parse_args(arguments)


def start(options):
    if options.threads < 1:
        raise Refused("--threads %d" % options.threads, "give a whole number from 1 on")
    if options.compile and not hasattr(torch, "compile"):
        raise Refused("PyTorch %s has no torch.compile" % torch.__version__, "use PyTorch 2.0 or newer, or leave --compile out")
    torch.set_num_threads(options.threads)
    return Worker(options)


def main():
    options = parse(sys.argv[1:])
    # Answers keep the real stdout; whatever a library prints must not mix in.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        worker = start(options)
    except Exception as cause:
        send(answers, explained(cause))
        sys.exit(CANNOT_START)
    serve(worker, answers)


if __name__ == "__main__":
    main()
