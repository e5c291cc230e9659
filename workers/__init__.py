"""Process entry points: Celery app, roles, wiring, client, CLI."""
