"""Numbers of architectures, compute capability times ten, at which machine code changes."""

FIRST = 50
LAST = 129
VOLTA = 70
"""First architecture with 16-byte instructions and convergence barriers."""
BLACKWELL = 100
