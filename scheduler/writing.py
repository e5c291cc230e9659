"""The write stage: documents come into the graph, change in it, move or go.

New documents are written under a shared lease. Others are staged under it, swapped, retired or renamed
together in one short exclusive grant, and cleared under a shared one again. Rules: ADR 0005.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pipeline.errors import GraphRejected, LeaseLost, PermanentError, TransientError, WriteIncomplete
from pipeline.models import Document, StoredDocument
from pipeline.ports import GraphReviser
from scheduler.assembling import Assembler, Ready
from scheduler.errors import LeaseUnavailable
from scheduler.leases import Access, GraphLease, Leases
from scheduler.outcomes import outcome_of_known
from scheduler.preparing import Graphs
from scheduler.records import Op, Outcome
from scheduler.stages import StageRun, outcome_of
from scheduler.states import FileState


class DocumentMoved(TransientError):
    """A document changed in the graph since its file was read: the file is read again."""

    code = "document_moved"


@dataclass(slots=True)
class WriteStages:
    """What the stage works with; one per process."""

    assembler: Assembler
    graphs: Graphs
    leases: Leases

    def write(self, run: StageRun) -> None:
        """Do what the files of a batch ask for, under the leases of their documents."""
        ready: dict[str, Ready] = {}
        for f in run.open_files():
            if f.document in ready:
                run.defer(f, LeaseUnavailable(f"This run changes {f.document} once more, afterwards."))
                continue
            try:
                ready[f.document] = self.assembler.assemble(run, f)
            except TransientError as error:
                run.defer(f, error)
            except PermanentError as error:
                run.ended[f.index] = outcome_of(error, run.stage)
        graph, wanted = run.batch.graph, _names_of(ready)
        try:
            for name in self.leases.take_documents(graph, run.holder, wanted):
                for own in [own for own, one in ready.items() if name in one.names]:
                    run.defer(ready.pop(own).file, LeaseUnavailable(f"Another run writes {name} right now."))
            if ready:
                with self.graphs.made_anew(graph):
                    self._write_leased(run, ready)
        finally:
            self.leases.release_documents(graph, run.holder, wanted)

    def _write_leased(self, run: StageRun, ready: dict[str, Ready]) -> None:
        names = _names_of(ready)
        writer, reviser = self.graphs.writer(run.batch.graph), self.graphs.reviser(run.batch.graph)
        with self._grant(run, Access.SHARED) as lease:
            progress = self._watch(run, lease, names)
            new, changes = self._sort(run, ready, writer.stored(list(ready)), lease.epoch)
            if new:
                self._write_new(run, lease, new, progress)
            # What a crash has left is in the way of the next step.
            others = {name: one for name, one in changes.items() if one.op is not Op.INGEST}
            before = reviser.clear(_names_of(others), lease.epoch, progress)
            versions = {name: one for name, one in changes.items() if name not in others}
            for name in self._refused(run, versions, lease.epoch, progress):
                del changes[name]
        if moving := {name: one for name, one in changes.items() if one.op is not Op.CLEAR}:
            with self._grant(run, Access.EXCLUSIVE) as lease:
                writer.raise_fence(lease.epoch, exclusive=True)
                for name, one in moving.items():
                    try:
                        _move(reviser, one, lease.epoch)
                    except (WriteIncomplete, DocumentMoved) as error:
                        run.defer(changes.pop(name).file, error)
        if changes:
            with self._grant(run, Access.SHARED) as lease:
                removed = reviser.clear(list(changes), lease.epoch, self._watch(run, lease, names))
            for name, one in changes.items():
                # What an earlier attempt retired has gone in the first pass.
                gone = removed[name] or before.get(name, 0)
                run.ended[one.file.index] = one.outcome(gone, run.stage)

    def _refused(
        self, run: StageRun, versions: dict[str, Ready], epoch: int, progress: Callable[[], None]
    ) -> list[str]:
        """Stage next versions; gives those that the graph refuses, which is no fault of their batch mates."""
        reviser = self.graphs.reviser(run.batch.graph)
        try:
            if versions:
                reviser.stage([one.versioned for one in versions.values()], epoch, progress)
        except GraphRejected as error:
            if len(versions) > 1:
                alone = ({name: one} for name, one in versions.items())
                return [name for some in alone for name in self._refused(run, some, epoch, progress)]
            reviser.clear(list(versions), epoch, progress)
            for one in versions.values():
                run.ended[one.file.index] = outcome_of(error, run.stage)
            return list(versions)
        return []

    def _sort(
        self, run: StageRun, ready: dict[str, Ready], stored: dict[str, StoredDocument], epoch: int
    ) -> tuple[dict[str, Ready], dict[str, Ready]]:
        """Tell new documents and changes apart; what is in the graph already, or has moved, gets its fate here."""
        new: dict[str, Ready] = {}
        changes: dict[str, Ready] = {}
        for name, one in ready.items():
            known = stored.get(name)
            if one.op not in {Op.INGEST, Op.RESTAMP} or one.document is None:
                changes[name] = one
            elif one.op is Op.RESTAMP or (known and _says_the_same(known, one.document)):
                if self._restamp(run, one, known, epoch):
                    changes[name] = replace(one, op=Op.CLEAR)
            elif known is None:
                new[name] = one
            elif known.content_hash != one.file.ref["base"]:
                run.defer(one.file, DocumentMoved(f"{name} was written by another run since its file was read."))
            else:
                changes[name] = one
        return new, changes

    def _restamp(self, run: StageRun, one: Ready, known: StoredDocument | None, epoch: int) -> bool:
        """Let a document that stays note where it is from now: its file may have moved, or have other bytes.

        Gives whether its past version is still to be cleared, which is its fate then.
        """
        document = one.versioned
        if known is None or known.content_hash != document.content_hash:
            run.defer(one.file, DocumentMoved(f"{document.id} was changed by another run since its file was read."))
            return False
        if (known.source_hash, known.root) != (document.source_hash, document.root):
            self.graphs.reviser(run.batch.graph).restamp(document, epoch)
        if not known.clearing:
            run.ended[one.file.index] = outcome_of_known(known, run.batch.run, document.fingerprint, run.stage)
        return known.clearing

    def _write_new(self, run: StageRun, lease: GraphLease, new: dict[str, Ready], progress: Callable[[], None]) -> None:
        writer = self.graphs.writer(run.batch.graph)
        try:
            writer.write([one.document for one in new.values() if one.document], lease.epoch, progress)
        except GraphRejected as error:
            # The batch mates of a document that the graph refuses are written all the same.
            known = writer.stored(list(new))
            refused = new.keys() - known.keys()
            self.graphs.reviser(run.batch.graph).clear(sorted(refused), lease.epoch, progress)
            for name in refused:
                run.ended[new.pop(name).file.index] = outcome_of(error, run.stage)
            for name in [name for name, one in new.items() if not _says_the_same(known[name], one.versioned)]:
                run.defer(new.pop(name).file, DocumentMoved(f"{name} was written by another run in the meantime."))
        for one in new.values():
            run.ended[one.file.index] = one.written(None, run.stage)

    def _watch(self, run: StageRun, lease: GraphLease, names: list[str]) -> Callable[[], None]:
        """Make what renews the leases between two queries, and ends the work once one is lost."""

        def progress() -> None:
            run.progress()
            if run.lost:
                raise LeaseLost("Files of this batch were taken by another worker.")
            if lease.renew() and (lost := self.leases.renew_documents(lease.graph, run.holder, names)):
                raise LeaseLost(f"The lease on {len(lost)} documents ended before they were written.")

        return progress

    @contextmanager
    def _grant(self, run: StageRun, access: Access) -> Iterator[GraphLease]:
        with GraphLease.hold(self.leases, run.batch.graph, access, run.holder) as lease:
            try:
                yield lease
            except LeaseLost:
                # Where Redis lost its counter the fence is ahead of every grant: go past it.
                self.leases.reseed(lease.graph, self.graphs.writer(lease.graph).fence(), access)
                raise

    # discard

    def discard(self, run: StageRun) -> None:
        """Remove what the files of a cancelled run left in the graph; what is complete stays, or has gone."""
        graph = run.batch.graph
        writer, reviser = self.graphs.writer(graph), self.graphs.reviser(graph)
        files = {f.document: f for f in run.open_files()}
        wanted = list(files)
        try:
            for name in self.leases.take_documents(graph, run.holder, wanted):
                run.defer(files.pop(name), LeaseUnavailable(f"Another run writes {name} right now."))
            with self._grant(run, Access.SHARED) as lease:
                reviser.clear(list(files), lease.epoch, self._watch(run, lease, list(files)))
                known = writer.stored(list(files))
            for name, f in files.items():
                if name in known and known[name].run_id == run.batch.run:
                    run.ended[f.index] = outcome_of_known(known[name], run.batch.run, "", run.stage)
                    continue
                gone = name not in known and f.op is Op.DELETE
                state, code = (FileState.REMOVED, "ok") if gone else (FileState.CANCELLED, "cancelled")
                run.ended[f.index] = Outcome(state, code, stage=run.stage)
        finally:
            self.leases.release_documents(graph, run.holder, wanted)


def _move(reviser: GraphReviser, one: Ready, epoch: int) -> None:
    """Take the step that readers see."""
    name = one.file.document
    if one.op is Op.DELETE:
        reviser.retire(name, epoch)
    elif one.op is Op.INGEST:
        reviser.swap(one.versioned, epoch)
    elif not reviser.rename(one.file.renamed_from, one.versioned, epoch):
        raise DocumentMoved(f"{one.file.renamed_from}, which {name} was to be renamed from, is gone.")


def _names_of(ready: dict[str, Ready]) -> list[str]:
    return [name for one in ready.values() for name in one.names]


def _says_the_same(known: StoredDocument, document: Document) -> bool:
    return (known.content_hash, known.fingerprint) == (document.content_hash, document.fingerprint)
