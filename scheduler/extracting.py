"""The extract stage: the passages of a whole batch that nobody has read yet are read together.

An answer is stored the moment it comes, so nothing is asked twice. Where asking costs something, one task asks
for a passage and others wait for its answer; and a passage that cannot be read is recorded for its run, beside
the cache of answers, so that its document can be written without it. Rules: ADR 0008.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial

import structlog

from pipeline.errors import (
    HaltsRun,
    LeaseLost,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    PassageUnread,
    PipelineError,
    TransientError,
    UnreadCode,
    is_time_limit,
)
from pipeline.extract import extract_each, reground
from pipeline.models import Extraction, Usage
from pipeline.ports import ArtifactStore, CallingExtractor
from scheduler.codec import decode_chunks, decode_extraction, decode_overdue, encode
from scheduler.flights import Flights
from scheduler.recipe import Recipe
from scheduler.records import ClaimedFile, Spent
from scheduler.stages import OutOfTurn, StageRun

_log = structlog.get_logger(__name__)

TIMEOUTS = 3
"""How often a passage may take too long to be answered before it is given up."""
IN_WORK_SECONDS = 2.0
"""After this long a passage is looked for again that another task asks for."""


class PassageInWork(TransientError):
    """Another task asks for a passage of this document right now; its answer will do."""


@dataclass(slots=True)
class _Open:
    """The passages of one batch that are still to be read."""

    paid: bool
    """Whether reading them costs something, by the recipe's extractor."""
    texts: dict[str, str] = field(default_factory=dict)
    """By the key of their extraction."""
    owners: dict[str, int] = field(default_factory=dict)
    """The first file that has it, which bears what reading it costs."""
    wanted: dict[int, list[str]] = field(default_factory=dict)
    """Which of them a file waits for."""
    waiting: dict[str, TransientError] = field(default_factory=dict)
    """Why one is not to be had in this turn."""
    done: set[str] = field(default_factory=set)
    """What was read in this turn, or could not be read."""


@dataclass(slots=True)
class ExtractStage:
    """What the stage works with; one per process."""

    recipe_of: Callable[[str], Recipe]
    """Tells what the files of a run are made with."""
    artifacts: ArtifactStore
    flights: Flights
    turn_seconds: float
    """After this long a task keeps what it has and gives the rest of its files another turn."""

    def extract(self, run: StageRun) -> None:
        """Find entities and relations; a large document takes as many turns as it needs."""
        try:
            self._extract(run, self.recipe_of(run.batch.run))
        except ModelUnavailable as error:
            # No file is to blame; and where weights are missing, each of them would fail by that.
            raise ModelRefused(str(error)) from error

    def _extract(self, run: StageRun, recipe: Recipe) -> None:
        batch = self._look(run, recipe, run.open_files())
        if not batch.wanted:
            return
        try:
            self._read_batch(run, recipe, batch)
        except (LeaseLost, ModelUnavailable, TransientError):
            raise
        except Exception as error:
            if is_time_limit(error) or len(batch.wanted) == 1:
                raise
            # One text was too much for the extractor; its file is found by reading each by itself.
            _log.warning("batch_not_extracted", run=run.batch.run, reason=f"{type(error).__name__}: {error}"[:300])
            self._read_alone(run, recipe)

    def _read_batch(self, run: StageRun, recipe: Recipe, batch: _Open) -> None:
        if batch.paid:
            self._ask(run, recipe, batch)
        else:
            self._read(run, recipe, batch, list(batch.texts))
        self._settle(run, batch)

    def _look(self, run: StageRun, recipe: Recipe, files: Sequence[ClaimedFile]) -> _Open:
        """Find what is still to be read; files that want nothing go on."""
        batch = _Open(_is_paid(recipe))
        for f in files:
            with run.working_on(f):
                self._add(run, recipe, batch, f)
        # What each file took by itself says little: they are read together, and each bears its part.
        run.seconds.clear()
        return batch

    def _add(self, run: StageRun, recipe: Recipe, batch: _Open, f: ClaimedFile) -> None:
        chunks = () if "op" in f.ref or "table" in f.ref else decode_chunks(self.artifacts.get(f.ref["chunks"]))
        wanted: dict[str, None] = {}
        for c in chunks:
            key = recipe.extraction_key(c.text)
            if key not in batch.texts and not self._is_read(run, recipe, batch, key, c.text, f):
                batch.texts[key] = c.text
                batch.owners[key] = f.index
            if key in batch.texts:
                wanted[key] = None
        if wanted:
            batch.wanted[f.index] = list(wanted)
        else:
            run.decide(f.index, f.ref)

    def _is_read(self, run: StageRun, recipe: Recipe, batch: _Open, key: str, text: str, f: ClaimedFile) -> bool:
        """Tell whether an answer for a passage is there, or the record that none could be had."""
        if self.artifacts.get(key) is not None:
            return True
        if (before := recipe.grown_key(text)) and (data := self.artifacts.get(before)) is not None:
            said = reground(text, decode_extraction(data), recipe.config.ontology)
            self.artifacts.put(key, encode(replace(said, usage=Usage())))
            return True
        return batch.paid and self.artifacts.get(recipe.unread_key(text, run.batch.run, f.round)) is not None

    def _read_alone(self, run: StageRun, recipe: Recipe) -> None:
        for number, f in enumerate(run.open_files()):
            with run.working_on(f):
                # The first one is read whatever the time, so that each turn brings the batch on.
                if number and self._is_over(run):
                    raise OutOfTurn("This document is extracted in another turn.")
                alone = _Open(_is_paid(recipe))
                self._add(run, recipe, alone, f)
                if alone.wanted:
                    self._read_batch(run, recipe, alone)

    def _ask(self, run: StageRun, recipe: Recipe, batch: _Open) -> None:
        """Read passages by an extractor whose calls cost something: those that no other task asks for now."""
        keys = list(batch.texts)
        taken = self.flights.take(keys, run.holder)
        mine = [key for key in keys if key not in taken]
        in_work = PassageInWork("Another task asks for a passage of this document.", retry_after=IN_WORK_SECONDS)
        batch.waiting = dict.fromkeys(taken, in_work)

        def renew() -> None:
            self.flights.renew(mine, run.holder)

        run.renewals.append(renew)
        try:
            # An answer that cannot be stored is paid for in vain: a full store is to be learnt of before.
            self.artifacts.put(recipe.trial_key(run.batch.run), b"")
            # Answered and given back since they were looked for.
            self._read(run, recipe, batch, [key for key in mine if self.artifacts.get(key) is None])
        finally:
            run.renewals.remove(renew)
            self.flights.release(mine, run.holder)

    def _read(self, run: StageRun, recipe: Recipe, batch: _Open, keys: Sequence[str]) -> None:
        """Read passages until all are read, or the turn is over, or no file of them is ours any more.

        What is under way then is paid for, and kept.
        """
        texts = [batch.texts[key] for key in keys]
        is_over = partial(self._is_over, run)
        with closing(extract_each(texts, recipe.extractor, recipe.config.ontology, is_over)) as results:
            for position, result in results:
                self._keep(run, recipe, batch, keys[position], result)
        left = [key for key in keys if key not in batch.waiting and key not in batch.done]
        batch.waiting |= dict.fromkeys(left, OutOfTurn("The rest of this document is extracted in another turn."))

    def _is_over(self, run: StageRun) -> bool:
        return run.elapsed() > self.turn_seconds or run.current in run.lost or not run.open_files()

    def _keep(self, run: StageRun, recipe: Recipe, batch: _Open, key: str, result: Extraction | PipelineError) -> None:
        """Store what a passage says, or note why it is not to be had."""
        index = batch.owners[key]
        if isinstance(result, ModelTimeout) and self._count_overdue(run, recipe, batch.texts[key], index) >= TIMEOUTS:
            result = PassageUnread(UnreadCode.TIMEOUT, f"{result} That was {TIMEOUTS} times.")
        if isinstance(result, Extraction):
            self.artifacts.put(key, encode(result))
            if batch.paid:
                run.spent[index] = run.spent.get(index, Spent()) + Spent(1, result.usage)
            batch.done.add(key)
        elif isinstance(result, PassageUnread):
            for f in (run.files[i] for i, keys in batch.wanted.items() if key in keys):
                place = recipe.unread_key(batch.texts[key], run.batch.run, f.round)
                self.artifacts.put(place, encode({"code": result.code, "message": str(result)}))
            batch.done.add(key)
        elif isinstance(result, TransientError):
            batch.waiting[key] = result
        else:
            raise result

    def _count_overdue(self, run: StageRun, recipe: Recipe, text: str, index: int) -> int:
        """Count how often a passage took too long, by itself: its file waits for other things in between."""
        place = recipe.overdue_key(text, run.batch.run, run.files[index].round)
        times = decode_overdue(self.artifacts.get(place)) + 1
        self.artifacts.put(place, encode({"times": times}))
        return times

    def _settle(self, run: StageRun, batch: _Open) -> None:
        """Let files go on whose passages are all read; the others wait for what the first of the others waits for."""
        for index, keys in batch.wanted.items():
            f = run.files[index]
            errors = [batch.waiting[key] for key in keys if key in batch.waiting]
            if not errors:
                run.decide(index, f.ref)
                continue
            run.defer(f, min(errors, key=_rank), advanced=bool(batch.done))


def _is_paid(recipe: Recipe) -> bool:
    return isinstance(recipe.extractor, CallingExtractor)


def _rank(error: TransientError) -> tuple[bool, bool, float]:
    """Order reasons to wait: what needs a person first, another turn last, otherwise the longest wait."""
    return not isinstance(error, HaltsRun), isinstance(error, OutOfTurn), -error.retry_after
