"""Tells at the end of a session what was done to the system, and that it stood it."""

import pytest

SURVIVED = pytest.StashKey[dict[str, int]]()


def pytest_terminal_summary(terminalreporter, config):
    if survived := config.stash.get(SURVIVED, {}):
        listed = ", ".join(f"{count} {name}" for name, count in sorted(survived.items()))
        terminalreporter.write_line(f"{sum(survived.values())} faults injected and survived: {listed}")


@pytest.fixture
def survived(request):
    """Count faults of a kind that a test has injected and that changed nothing."""
    counts = request.config.stash.setdefault(SURVIVED, {})

    def count(name, faults):
        counts[name] = counts.get(name, 0) + faults

    return count
