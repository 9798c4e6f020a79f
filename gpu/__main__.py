"""``python -m gpu``; see :mod:`gpu.cli`."""

from gpu.cli import main

if __name__ == "__main__":
    main()
