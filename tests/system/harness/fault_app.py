"""graphmill's own app, with faults of the broker that no setting of ours makes.

`PLANT_FAULTS` names them: `twice` delivers every message twice, `visibility` gives messages to another
worker while the first is still at work on them.
"""

import os

from kombu.transport import redis as transport

from workers.app import app

FAULTS = os.environ.get("PLANT_FAULTS", "").split(",")  # noqa: TID251 - a setting of the harness, not of graphmill
VISIBILITY_SECONDS = 1

if "visibility" in FAULTS:
    # Our settings refuse so short a time.
    app.conf.broker_transport_options |= {"visibility_timeout": VISIBILITY_SECONDS, "unacked_restore_interval": 1}
if "twice" in FAULTS:
    put = transport.Channel._put

    def _put_twice(channel, queue, message, **options):
        put(channel, queue, message, **options)
        put(channel, queue, message, **options)

    transport.Channel._put = _put_twice
