"""``python -m simt``: the same as the console command ``simt``."""

from simt.cli import main

if __name__ == "__main__":
    main()
