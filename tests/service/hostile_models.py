"""An extractor that does what a text tells it to: die in several ways, take all memory, or take its time."""

import ctypes
import os
import resource
import signal
import time

import psutil
import tiny_models

SLOW_SECONDS = 0.05
"""What a passage costs that is marked as slow: a stand-in for a model that computes."""
SPARE_BYTES = 2**30


def extract(text):
    if "KILLS ITS WORKER" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "ENDS ITS WORKER" in text:
        os._exit(0)
    if "CRASHES ITS WORKER" in text:
        ctypes.string_at(0)
    if "TAKES ALL MEMORY" in text:
        take_memory()
    if "TAKES ITS TIME" in text:
        time.sleep(SLOW_SECONDS)
    return tiny_models.extract(text)


def take_memory():
    """Meet a limit of memory, as a container or `ulimit -v` sets one."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = psutil.Process().memory_info().vms
    resource.setrlimit(resource.RLIMIT_AS, (used + SPARE_BYTES, before[1]))
    try:
        bytearray(2 * SPARE_BYTES)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
