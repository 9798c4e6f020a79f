"""Programs: unmodified CUDA programs run on the modelled GPU, in a process of their own."""

from simt.driver.build import libraries

__all__ = ["libraries"]
