"""Launches: what a view makes of a kernel, one launch of it, and the device that lives between launches."""

from simt.calls.arrays import DeviceArray
from simt.calls.code import MachineKernel
from simt.calls.device import Device, LostDeviceError
from simt.calls.options import SOURCE, Options

__all__ = ["SOURCE", "Device", "DeviceArray", "LostDeviceError", "MachineKernel", "Options"]
