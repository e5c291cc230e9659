"""litellm, imported on first use and told to keep quiet: it costs seconds and 180 MB, and only some processes ask."""

import functools
import logging
import threading
import warnings
from types import ModuleType

_importing = threading.Lock()


def load_litellm() -> ModuleType:
    """Give litellm. It reads its price list while it is imported: the bundled one where the environment says so."""
    with _importing:
        return _load()


def preload() -> None:
    """Import litellm and read its prices before a worker's parent forks, so that its processes share that memory."""
    litellm = load_litellm()
    # Builds what it builds on the first look-up.
    litellm.cost_per_token(model="gpt-4o-mini", prompt_tokens=1, completion_tokens=1)


@functools.cache
def _load() -> ModuleType:
    import litellm

    litellm.telemetry = False
    # It prints hints for its own developers to the output otherwise.
    litellm.suppress_debug_info = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        # What fails is told once, by us; it logs each failure with its prompt.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # Of its own types, once each, while the first call imports the rest of it.
    warnings.filterwarnings("ignore", message=".*`ReadOnly` qualifier", category=UserWarning)
    return litellm
