"""Launches on other processes and machines: any :class:`concurrent.futures.Executor` takes the work."""
