"""Logs: structured, one line an event, without document text or secrets."""

import logging
import sys

import structlog

from workers.settings import Settings


def configure_logging(settings: Settings) -> None:
    """Send structlog and the standard library's loggers to standard error in one form."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    renderer: structlog.typing.Processor
    if settings.log_format == "json":
        shared.append(structlog.processors.format_exc_info)
        renderer = structlog.processors.JSONRenderer()
    else:
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    # pypdf and fontTools comment on every damaged file; what matters is in the file's outcome.
    # pypdf's own warnings still reach the reader, which keeps the first of them.
    logging.getLogger("pypdf").propagate = False
    for noisy in ("fontTools", "charset_normalizer", "markdown_it", "httpx", "LiteLLM"):
        logging.getLogger(noisy).setLevel(logging.ERROR)
