"""RandAugment's operations of torchvision, with which the tests of package torch compare.

Reads images from the file in the first argument, and from stdin a list of operations in JSON. Writes
the images after each as a line of JSON. Without torchvision it uses the formulas below, which are
written after the paper and torchvision's documentation.
"""

import json
import math
import sys

import torch
import torch.nn.functional as functional

try:
    from torchvision.transforms import InterpolationMode
    from torchvision.transforms.autoaugment import RandAugment, _apply_op
except Exception:  # a torchvision of another PyTorch raises more than ImportError
    RandAugment = None

SPACED = {"ShearX": 0.3, "ShearY": 0.3, "Rotate": 30.0, "Brightness": 0.9, "Color": 0.9, "Contrast": 0.9, "Sharpness": 0.9}


def strength(name, magnitude, height, width):
    if name in ("TranslateX", "TranslateY"):
        return torch.linspace(0.0, 150.0 / 331.0 * (width if name[-1] == "X" else height), 31)[magnitude].item()
    if name == "Posterize":
        return 8 - int((torch.arange(31) / 7.5).round()[magnitude].item())
    if name == "Solarize":
        return torch.linspace(255.0, 0.0, 31)[magnitude].item()
    return torch.linspace(0.0, SPACED[name], 31)[magnitude].item() if name in SPACED else 0.0


def moved(images, matrix):
    """Each pixel is the one that an affine matrix, relative to the centre, leads to."""
    height, width = images.shape[-2:]
    ys = torch.linspace(-height * 0.5 + 0.5, height * 0.5 - 0.5, height)
    xs = torch.linspace(-width * 0.5 + 0.5, width * 0.5 - 0.5, width)
    base = torch.stack([xs.expand(height, width), ys[:, None].expand(height, width), torch.ones(height, width)], 2)
    theta = torch.tensor(matrix).reshape(1, 2, 3).transpose(1, 2) / torch.tensor([0.5 * width, 0.5 * height])
    grid = base.view(1, -1, 3).bmm(theta).view(1, height, width, 2).expand(len(images), -1, -1, -1)
    return functional.grid_sample(images.float(), grid, mode="nearest", align_corners=False).round().to(torch.uint8)


def geometric(images, name, value):
    height, width = images.shape[-2:]
    if name == "ShearX":  # the centre is the upper left corner
        slope = math.tan(math.radians(math.degrees(math.atan(value))))
        return moved(images, [1.0, slope, slope * height * 0.5, 0.0, 1.0, 0.0])
    if name == "ShearY":
        slope = math.tan(math.radians(math.degrees(math.atan(value))))
        return moved(images, [1.0, 0.0, 0.0, slope, 1.0, slope * width * 0.5])
    if name == "TranslateX":
        return moved(images, [1.0, 0.0, -float(int(value)), 0.0, 1.0, 0.0])
    if name == "TranslateY":
        return moved(images, [1.0, 0.0, 0.0, 0.0, 1.0, -float(int(value))])
    turn = math.radians(-value)
    return moved(images, [math.cos(turn), math.sin(turn), 0.0, -math.sin(turn), math.cos(turn), 0.0])


def blend(images, other, ratio):
    return (ratio * images + (1.0 - ratio) * other).clamp(0, 255).to(torch.uint8)


def gray(images):
    if images.shape[1] == 1:
        return images
    r, g, b = images.unbind(1)
    return (0.2989 * r + 0.587 * g + 0.114 * b).to(torch.uint8).unsqueeze(1)


def sharpened(images, ratio):
    kernel = torch.ones(3, 3)
    kernel[1, 1] = 5.0
    kernel = (kernel / kernel.sum()).expand(images.shape[1], 1, 3, 3)
    soft = images.clone()
    soft[..., 1:-1, 1:-1] = functional.conv2d(images.float(), kernel, groups=images.shape[1]).round().to(torch.uint8)
    return blend(images, soft, ratio)


def contrasted(images):
    low, high = images.amin((2, 3), True).float(), images.amax((2, 3), True).float()
    scale = 255 / (high - low)
    flat = ~torch.isfinite(scale)
    low[flat], scale[flat] = 0, 1
    return ((images - low) * scale).clamp(0, 255).to(torch.uint8)


def equalized(plane):
    counts = torch.bincount(plane.reshape(-1), minlength=256)
    step = (counts.sum() - counts[plane.max().item()]) // 255
    if step == 0:
        return plane
    table = functional.pad((counts.cumsum(0) + step // 2) // step, [1, 0])[:-1].clamp(0, 255)
    return table[plane.long()].to(torch.uint8)


def formula(images, name, value):
    if name == "Identity":
        return images
    if name.startswith(("Shear", "Translate", "Rotate")):
        return geometric(images, name, value)
    if name == "Brightness":
        return blend(images, torch.zeros_like(images), 1.0 + value)
    if name == "Color":
        return images if images.shape[1] == 1 else blend(images, gray(images), 1.0 + value)
    if name == "Contrast":
        return blend(images, gray(images).float().mean((1, 2, 3), keepdim=True), 1.0 + value)
    if name == "Sharpness":
        return sharpened(images, 1.0 + value)
    if name == "Posterize":
        return images & -int(2 ** (8 - value))
    if name == "Solarize":
        return torch.where(images >= value, 255 - images, images)
    if name == "AutoContrast":
        return contrasted(images)
    return torch.stack([torch.stack([equalized(plane) for plane in image]) for image in images])


def torchvisions(images, name, magnitude, opposite):
    meta = RandAugment()._augmentation_space(31, images.shape[-2:])
    values, signed = meta[name]
    value = float(values[magnitude].item()) if values.ndim > 0 else 0.0
    value = -value if signed and opposite else value
    return torch.stack([_apply_op(image, name, value, InterpolationMode.NEAREST, None) for image in images])


loaded = torch.load(sys.argv[1], map_location="cpu")
for case in json.load(sys.stdin):
    images, name, magnitude = loaded[case["images"]], case["name"], case["magnitude"]
    value = strength(name, magnitude, *images.shape[-2:])
    signed = name.startswith(("Shear", "Translate")) or name in SPACED
    by_formula = formula(images, name, -value if signed and case["opposite"] else value)
    out = torchvisions(images, name, magnitude, case["opposite"]) if RandAugment else by_formula
    differ = int((out != by_formula).sum())
    print(json.dumps({"torchvision": RandAugment is not None, "differ": differ, "images": out.flatten().tolist()}))
