"""Networks of torchvision and timm with seeded weights, shared by the scripts of docs/PYTORCH.md.

`network(name, size)` returns one in eval mode, `images(n, size)` images [n,3,size,size] of smooth noise. A timm network
has the prefix "timm/". Batch normalisations have the statistics of images, as those of a trained network have.
"""

import timm
import torch
import torchvision

torch.set_num_threads(1)


def images(n, size, seed=1):
    coarse = torch.randn(n, 3, size // 8, size // 8, generator=torch.Generator().manual_seed(seed))
    fine = torch.randn(n, 3, size, size, generator=torch.Generator().manual_seed(seed + 1))
    return torch.nn.functional.interpolate(coarse, size=(size, size), mode="bilinear") + 0.3 * fine


def network(name, size):
    torch.manual_seed(1)
    if name.startswith("timm/"):
        sized = {"img_size": size} if name.startswith(("timm/vit_", "timm/deit_")) else {}
        net = timm.create_model(name[5:], pretrained=False, **sized).eval()
    else:
        net = torchvision.models.get_model(name, weights=None).eval()
    norms = [m for m in net.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    for m in norms:
        m.momentum = None
        m.reset_running_stats()
        m.train()
    if norms:
        with torch.no_grad():
            net(images(8, size, 5))
    return net.eval()
