"""Tables as knowledge: each row becomes an entity with a key of its own, and a passage that says where it is from.

What a row says depends on that row and the order alone, never on its neighbours: an update then touches
the rows that changed. Identities and the rest of the plan: ADR 0006.
"""

from pipeline.tables.order import TableOrder
from pipeline.tables.tell import Table, tell_table
from pipeline.tables.values import OWN_PROPERTIES

__all__ = ["OWN_PROPERTIES", "Table", "TableOrder", "tell_table"]
