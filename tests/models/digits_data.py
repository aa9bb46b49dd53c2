"""The handwritten digits: loading, the fixed split, augmentation.

Data: "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository (CC BY 4.0), the
1,797 images of 8x8 pixels, values 0..16, that scikit-learn carries.
"""

import numpy as np
from scipy import ndimage
from sklearn.datasets import load_digits

HELD_OUT = 360  # images never used in training or calibration
SPLIT_SEED = 20
ATTRIBUTION = {  # for meta.json
    "set": "Optical Recognition of Handwritten Digits (UCI), as carried by scikit-learn",
    "licence": "CC BY 4.0 (data), BSD-3-Clause (scikit-learn)",
    "split": f"{HELD_OUT} of 1,797 images held out, seed {SPLIT_SEED}",
}


def load():
    """Returns (x_train, y_train, x_test, y_test); x is float32 [n, 8, 8, 1] in 0..1."""
    data = load_digits()
    x = (data.images / 16.0).astype(np.float32)[..., None]
    y = data.target.astype(np.int64)
    order = np.random.default_rng(SPLIT_SEED).permutation(len(x))
    test, train = order[:HELD_OUT], order[HELD_OUT:]
    return x[train], y[train], x[test], y[test]


def augment(x, rng):
    """Rotate by up to 12 degrees, scale by up to 10 %, shift by up to one pixel, for each image separately."""
    out = np.empty_like(x)
    mid = (x.shape[1] - 1) / 2.0
    for i, image in enumerate(x[..., 0]):
        a, s = np.deg2rad(rng.uniform(-12, 12)), rng.uniform(0.9, 1.1)
        m = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) / s
        off = mid - m @ np.array([mid, mid]) + rng.uniform(-1, 1, 2)
        out[i, ..., 0] = ndimage.affine_transform(image, m, off, order=1)
    return np.clip(out, 0.0, 1.0)
