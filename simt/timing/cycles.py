"""Times as whole cycles."""

from __future__ import annotations

import numpy as np

from simt.timing.jit import jit_inline


@jit_inline
def ceil(x):
    return np.int64(np.ceil(x))
