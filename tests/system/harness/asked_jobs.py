"""What the tests of query jobs ask, and the queue that they look into."""

SLOW_JOBS = "gm:query:slow"


class Queue(list):
    """Messages that were sent: ids of jobs, with the seconds that each may take. While it is `broken` it takes none."""

    broken = False

    def send(self, job, seconds):
        if self.broken:
            raise ConnectionError("the broker is away")
        self.append((job, seconds))

    def take_all(self):
        taken = [job for job, _ in self]
        self.clear()
        return taken


def echo(kind, arguments):
    return {"kind": kind, **arguments}


def submit(query_jobs, *numbers, slow=False, timeout_s=30):
    if len(numbers) > 1:
        asked = [{"number": number} for number in numbers]
        return query_jobs.submit_batch("retrieve", asked, timeout_s=timeout_s, slow=slow)
    return query_jobs.submit("retrieve", {"number": numbers[0] if numbers else 1}, timeout_s=timeout_s, slow=slow)


def travel(client, job, seconds):
    """Let time pass for a job: its times move into the past."""
    key = f"gm:query:{job}"
    for name in ("deadline", "queued_at", "sent", "started", "lease"):
        if (value := client.hget(key, name)) is not None:
            client.hset(key, name, f"{float(value) - seconds * 1000:.3f}")
    lapse_place(client, client.hget(key, "holder") or "", seconds)


def lapse_place(client, holder, seconds):
    """Let time pass for the place of a slow job."""
    if (score := client.zscore(SLOW_JOBS, holder)) is not None:
        client.zadd(SLOW_JOBS, {holder: score - seconds * 1000})
