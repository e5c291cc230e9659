"""What becomes of a file whose document the graph holds already."""

from pipeline.models import StoredDocument
from scheduler.records import Outcome
from scheduler.states import FileState


def outcome_of_known(stored: StoredDocument, run: str, fingerprint: str, stage: str) -> Outcome:
    """Tell the fate of a file whose present content the graph holds.

    A task that comes again finds its own work: what it says of the file must be what it said before.
    """
    if stored.run_id == run:
        return Outcome(FileState.UPDATED if stored.replaced else FileState.WRITTEN, stage=stage)
    if stored.fingerprint == fingerprint:
        return Outcome(FileState.UNCHANGED, stage=stage)
    message = (
        "The graph holds this content as extracted with other settings; it stays as it is (`graphmill reextract`)."
    )
    return Outcome(FileState.CHANGED, "settings_changed", message, stage)
