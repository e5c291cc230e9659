"""Implementations of the ports; the only place that imports the libraries they wrap."""
