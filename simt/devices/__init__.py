"""GPUs as data files (limits, each number with its source) and what follows from them: occupancy."""

from simt.devices.device import DeviceError, Gpu, Quantity, default_for, get, names, parse
from simt.devices.occupancy import Occupancy, occupancy

__all__ = ["DeviceError", "Gpu", "Occupancy", "Quantity", "default_for", "get", "names", "occupancy", "parse"]
