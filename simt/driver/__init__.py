"""Programs: unmodified CUDA programs run on the modelled GPU, in a process of their own."""

from simt.driver.build import libraries
from simt.driver.program import run_program, surroundings
from simt.driver.settings import Finding, Finished, Settings

__all__ = ["Finding", "Finished", "Settings", "libraries", "run_program", "surroundings"]
