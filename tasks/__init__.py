"""Celery task shells and canvas; no business logic."""
