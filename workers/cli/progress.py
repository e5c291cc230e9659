"""How far things are: bars on a terminal, a line every few seconds elsewhere. Always on standard error."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from workers.cli.output import Output, printable, seconds_text

if TYPE_CHECKING:
    from rich.console import Group

PLAIN_SECONDS = 5.0
"""At most one line in this time where there is no terminal."""
_WINDOW_SECONDS = 30.0
_BAR_WIDTH = 24


@dataclass(frozen=True, slots=True)
class Step:
    """One part of the work: how much is done, of how much (None: not known yet), and what goes on."""

    name: str
    done: int
    total: int | None = None
    detail: str = ""

    @property
    def ended(self) -> bool:
        """Whether all of it is done."""
        return self.total is not None and self.done >= self.total

    @property
    def count(self) -> str:
        """Done of total, as text."""
        return f"{self.done:,}" if self.total is None else f"{self.done:,}/{self.total:,}"


class Pace:
    """How fast a step went lately."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._seen: deque[tuple[float, int]] = deque()

    def see(self, done: int) -> None:
        """Note how much is done now."""
        now = self._clock()
        self._seen.append((now, done))
        while now - self._seen[0][0] > _WINDOW_SECONDS:
            self._seen.popleft()

    @property
    def elapsed(self) -> float:
        """Seconds since the step began."""
        return self._clock() - self._began

    @property
    def rate(self) -> float:
        """Units a second over the last half minute; 0 while there is too little to tell."""
        (then, before), (now, done) = self._seen[0], self._seen[-1]
        return (done - before) / (now - then) if now - then >= 1.0 else 0.0

    def left(self, step: Step) -> float | None:
        """Estimate the seconds until a step ends."""
        return (step.total - step.done) / self.rate if step.total is not None and self.rate > 0 else None


class Display(Protocol):
    """Shows steps and remarks."""

    def show(self, steps: Sequence[Step]) -> None:
        """Show where the steps stand; steps that are named no more have ended."""

    def note(self, text: str) -> None:
        """Show one remark."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_display(output: Output) -> Display:
    """Choose the display that standard error can show."""
    return LiveDisplay(output) if output.remarks.is_terminal else LineDisplay(output.note)


class _Steps:
    """The steps seen so far, in order, each with its pace."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.seen: dict[str, tuple[Step, Pace]] = {}
        self.current: list[str] = []

    def update(self, steps: Sequence[Step]) -> list[tuple[Step, Pace]]:
        """Take in new states; gives the steps that have ended since."""
        ended = []
        names = [step.name for step in steps]
        for name in self.current:
            step, pace = self.seen[name]
            if name not in names and not step.ended:
                # It went by between two looks: what is named no more is done.
                self.seen[name] = Step(name, step.total or step.done, step.total or step.done), pace
                ended.append(self.seen[name])
        for step in steps:
            known = self.seen.get(step.name)
            pace = known[1] if known else Pace(self._clock)
            pace.see(step.done)
            if step.ended and not (known and known[0].ended):
                ended.append((step, pace))
            self.seen[step.name] = step, pace
        self.current = names
        return ended


class LineDisplay:
    """Plain lines: when a step ends, and every few seconds while one goes on."""

    def __init__(self, note: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self.note = note
        self._steps = _Steps(clock)
        self._clock = clock
        self._said_at = clock()

    def show(self, steps: Sequence[Step]) -> None:
        """Write a line for each step that ended, and now and then for those that go on."""
        for step, pace in self._steps.update(steps):
            self.note(f"{step.name}: {step.done:,} in {seconds_text(pace.elapsed)}")
        if self._clock() - self._said_at < PLAIN_SECONDS:
            return
        for step in steps:
            if not step.ended:
                self.note(_describe(step, self._steps.seen[step.name][1]))
                self._said_at = self._clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is open."""


def _describe(step: Step, pace: Pace) -> str:
    parts = [f"{step.name}: {step.count}"]
    if pace.rate > 0:
        parts.append(f"{pace.rate:.1f}/s")
    left = pace.left(step)
    if left is not None:
        parts.append(f"{seconds_text(left)} left")
    return ", ".join(parts) + (f" ({step.detail})" if step.detail else "")


class LiveDisplay:
    """A bar for each step, with rate and estimate, redrawn in place; below it what is in flight."""

    def __init__(self, output: Output) -> None:
        from rich.live import Live

        self._steps = _Steps()
        self._output = output
        self._live = Live(
            console=output.remarks, get_renderable=self._render, refresh_per_second=5, redirect_stdout=False
        )

    def show(self, steps: Sequence[Step]) -> None:
        """Redraw; the bars appear with the first step."""
        self._steps.update(steps)
        if not self._live.is_started:
            self._live.start()

    def note(self, text: str) -> None:
        """Write a remark above the bars."""
        self._output.note(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live.is_started:
            self._live.stop()

    def _render(self) -> "Group":
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2, 0, 0))
        details: list[Any] = []
        # A copy: the bars are drawn by a thread of their own.
        for step, pace in list(self._steps.seen.values()):
            bar = ProgressBar(
                total=step.total, completed=step.done, width=_BAR_WIDTH, pulse=step.total is None and not step.ended
            )
            rate = f"{pace.rate:.1f}/s" if pace.rate > 0 and not step.ended else ""
            left = pace.left(step)
            when = "done" if step.ended else f"{seconds_text(left)} left" if left is not None else ""
            table.add_row(step.name, bar, Text(step.count, justify="right"), rate, when)
            if step.detail and not step.ended:
                details.append(Text(f"  {printable(step.detail)}", style="dim", no_wrap=True, overflow="ellipsis"))
        return Group(table, *details)
