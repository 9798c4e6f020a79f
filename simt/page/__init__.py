"""One self-contained HTML page of one profile, or of two side by side."""

from simt.page.write import check_installed, write_page

__all__ = ["check_installed", "write_page"]
