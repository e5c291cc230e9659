"""What a query worker can be asked, by kind: arguments come by name, as plain JSON values."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ConfigDict, ValidationError, validate_call

from pipeline.errors import QueryInvalid


class QueryKinds:
    """Answers questions of several kinds.

    Args:
        answers: What answers the questions of a kind, by its name; its annotations say which arguments it takes.
    """

    def __init__(self, answers: Mapping[str, Callable[..., dict[str, Any]]]) -> None:
        strictly = validate_call(config=ConfigDict(strict=True))
        self._answers = {kind: strictly(answer) for kind, answer in answers.items()}

    def run(self, kind: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one question.

        Raises, beside what answers it:
            QueryInvalid: There is no such kind, or an argument is missing, unknown, or of another type.
        """
        answer = self._answers.get(kind)
        if answer is None:
            raise QueryInvalid(f"there is no query {kind!r}: ask for one of {', '.join(self._answers)}")
        try:
            return answer(**arguments)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise QueryInvalid(f"{kind}: {where}: {first['msg']}") from error
