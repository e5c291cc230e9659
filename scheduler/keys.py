"""How names that people choose stand in Redis keys: without the colon, which divides a key's parts."""


def spell_name(name: str) -> str:
    """Spell a graph's name for a key; the scripts do the same (`graph_key` in lua/common.lua)."""
    return name.replace("%", "%25").replace(":", "%3A")


def read_name(spelled: str) -> str:
    """Give the name back that `spell_name` spelled."""
    return spelled.replace("%3A", ":").replace("%25", "%")
