"""GPUs as data files (limits, each number with its source) and what follows from them: occupancy."""

from simt.devices.device import Device, DeviceError, Quantity, get, names, parse
from simt.devices.occupancy import Occupancy, occupancy

__all__ = ["Device", "DeviceError", "Occupancy", "Quantity", "get", "names", "occupancy", "parse"]
