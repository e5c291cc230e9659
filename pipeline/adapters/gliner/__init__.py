"""A local extractor of types that are named at run time: GLiNER2 models read passages without a service or a key."""

from pipeline.adapters.gliner.extractor import GlinerExtractor
from pipeline.adapters.gliner.files import is_installed

__all__ = ["GlinerExtractor", "is_installed"]
