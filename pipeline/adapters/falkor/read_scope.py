"""Scopes as conditions of a statement, on the document `d` that it has matched."""

from typing import Any

from pipeline.models import Scope

MARK = "/* in scope */"
"""Stands in a statement where the conditions of a scope belong, behind a condition on `d`."""
_OPERATORS = {"=": "=", "in": "IN", "starts_with": "STARTS WITH", "<": "<", ">=": ">="}


def within(statement: str, scope: Scope) -> tuple[str, dict[str, Any]]:
    """Put a scope's conditions into a statement; gives it with the parameters that they name."""
    conditions: list[str] = []
    parameters: dict[str, Any] = {}
    if scope.documents is not None:
        conditions.append(" AND d.id IN $documents")
        parameters["documents"] = list(scope.documents)
    for i, condition in enumerate(scope.where):
        name = f"where{i}"
        # Whoever makes a condition has its name and operator checked: both are among a few.
        conditions.append(f" AND d.{condition.name} {_OPERATORS[condition.op]} ${name}")
        parameters[name] = list(condition.value) if isinstance(condition.value, tuple) else condition.value
    return statement.replace(MARK, "".join(conditions)), parameters
