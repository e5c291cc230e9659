"""What calls of a model cost, by the settings or litellm's price list; None where nobody says."""

from pipeline.adapters.chat.library import load_litellm
from pipeline.config import CallConfig

_MILLION = 1_000_000


class Prices:
    """The price of one model's tokens. A model that the list does not name has none: unknown is not free."""

    def __init__(self, model: str, config: CallConfig) -> None:
        self._model = model
        self._given = (config.usd_per_million_in, config.usd_per_million_out)
        self._listed: bool | None = None

    def usd(self, tokens_in: int, tokens_out: int) -> float | None:
        """Tell the price in US dollars, or None."""
        per_in, per_out = self._given
        if per_in is not None and per_out is not None:
            return (tokens_in * per_in + tokens_out * per_out) / _MILLION
        if self._listed is None:
            self._listed = _is_listed(self._model)
        if not self._listed:
            return None
        cost = load_litellm().cost_per_token(model=self._model, prompt_tokens=tokens_in, completion_tokens=tokens_out)
        return float(sum(cost))


def _is_listed(model: str) -> bool:
    # litellm itself asks a server on this host about models of ollama that it does not know, and takes a price
    # that its list leaves out for 0.
    litellm = load_litellm()
    entry = litellm.model_cost.get(model) or litellm.model_cost.get(model.partition("/")[2]) or {}
    return "input_cost_per_token" in entry and "output_cost_per_token" in entry
