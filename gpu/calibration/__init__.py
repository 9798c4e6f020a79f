"""``simt calibrate``: the timing numbers of a GPU that is at hand, measured and fitted.

The same machine code runs on the GPU (:mod:`gpu.calibration.measuring`) and in the timing model with the numbers of a
device file; :mod:`gpu.calibration.fitting` changes those until both agree, and :mod:`gpu.calibration.writing` writes
them down.
"""
