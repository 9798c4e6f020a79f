"""NVIDIA's tools: where they are, how they are run, and what they make of CUDA C.

The only package that knows of wheels, of PATH and of the tools' command lines.
"""
