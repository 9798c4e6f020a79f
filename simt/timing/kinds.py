"""Kinds of launches, by what limits them; a device file may say how far off predictions of each kind are."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

LATENCY, IMBALANCE, ANY, RACES, HOST = "latency", "imbalance", "any", "races", "host"
LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "compute": "sm_throughput_percent",
        "l1": "l1_throughput_percent",
        "l2": "l2_throughput_percent",
        "dram": "dram_throughput_percent",
    }
)
"""What may limit a launch, and the metric that says how near it is."""
KINDS = (*LIMITS, LATENCY, IMBALANCE)
"""Near one of those limits, near none, and with blocks that differ.

Beside these there is :data:`RACES`: how much is executed depends on who comes first, in a retry loop of
compare-and-swap or where blocks read what others write; and :data:`HOST`: memory of the host is read or written, whose
bus differs from computer to computer.  No error is known of such launches.
"""
ERRORS = "errors"
"""The section of a device file with an error for each kind, and for ``any``, in percent of the cycles."""
COVERED = Fraction(2, 3)
"""Of the launches of a kind that were compared with a device, how many its error covers."""
