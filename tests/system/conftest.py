"""What tests of the whole system share."""

import pytest


@pytest.fixture
def survived(record_property):
    """Count faults of a kind that a test has injected and that changed nothing; the session tells at its end."""

    def count(name, faults):
        record_property("survived", [name, faults])

    return count
