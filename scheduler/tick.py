"""One tick of the control loop: take back what is lost, keep the window full, drive finalizes.

Safe to run anywhere, any time, concurrently: every step is one compare-and-set in the ledger. It
runs in the watching CLI, in beat's `control.tick`, and after each batch that ends.
"""

from dataclasses import dataclass
from typing import Protocol

from scheduler.finalize import FinalizeLedger, Phase, Shard
from scheduler.ledger import Ledger
from scheduler.records import Batch
from scheduler.verbs import RunVerbs


class Sender(Protocol):
    """Puts work on the queues."""

    def send_batch(self, batch: Batch) -> None:
        """Send a batch on its way through the stages."""

    def send_phase(self, shards: list[Shard]) -> None:
        """Send shards of one phase, and after them the step that moves the finalize on."""


@dataclass(frozen=True, slots=True)
class DispatchConfig:
    """How much is in flight at once.

    `window` counts batches; keep it at two to four times the worker processes, so that none runs
    dry and the queue never holds a corpus.
    """

    window: int
    max_files: int
    max_bytes: int
    spread: int
    memory_mark: float
    """Share of the broker's memory above which nothing new is dispatched: at its end it refuses every write."""
    keep_seconds: float
    """How long runs that have ended are remembered."""


@dataclass(frozen=True, slots=True)
class TickReport:
    """What a tick did."""

    batches_sent: int = 0
    messages_lost: int = 0
    workers_lost: int = 0
    dead_letters: int = 0
    finalizes_begun: int = 0
    phases_redriven: int = 0
    held_back: bool = False
    """The broker's memory is above the mark; dispatch goes on by itself once it is below."""


def tick(
    ledger: Ledger, verbs: RunVerbs, finalizes: FinalizeLedger, sender: Sender, config: DispatchConfig
) -> TickReport:
    """Do all that is due now; raises what the ledger or the broker raise, and can be repeated."""
    messages = workers = dead = 0
    for run in ledger.active_runs():
        lost = ledger.sweep(run)
        messages, workers, dead = messages + lost[0], workers + lost[1], dead + lost[2]
        # Does nothing for a run that is not being cancelled.
        verbs.go_on_cancelling(run)
    verbs.expire(config.keep_seconds)
    held_back = verbs.memory(config.memory_mark).above_mark
    sent = 0 if held_back else dispatch(ledger, sender, config)
    begun = redriven = 0
    for graph in finalizes.graphs():
        number = finalizes.begin(graph)
        if number:
            begun += 1
            sender.send_phase([Shard(graph, number, Phase.PLAN, 0)])
        elif shards := finalizes.redrive(graph):
            redriven += 1
            sender.send_phase(shards)
    return TickReport(sent, messages, workers, dead, begun, redriven, held_back)


def dispatch(ledger: Ledger, sender: Sender, config: DispatchConfig) -> int:
    """Fill the window; gives the number of batches sent."""
    sent = 0
    while batch := ledger.take(
        window=config.window, max_files=config.max_files, max_bytes=config.max_bytes, spread=config.spread
    ):
        sender.send_batch(batch)
        sent += 1
    return sent
