"""An OpenAI-compatible server on loopback that answers by a script, counts, and misbehaves on request.

In a test: `with ScriptedLlm(answer) as server:`. As a process of its own, for benches:
`python tests/system/harness/scripted_llm.py --latency 1`; it prints its address, and GET /count gives the counts.
"""

import argparse
import asyncio
import itertools
import json
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace

_NAME = re.compile(r"[A-Z]\w*(?: [A-Z]\w*)*")
_PASSAGE = re.compile(r"<passage>\n?(.*?)\n?</passage>", re.DOTALL)
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True)
class Reply:
    """One HTTP answer and how it is given."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    latency: float = 0.0
    drip: float = 0.0
    """Seconds between two bytes of the body; 0: all at once."""
    manner: str = "whole"
    """`whole`, `cut` (half of the body, then the connection is closed) or `hang` (nothing, until the server ends)."""

    def slow(self, seconds):
        return replace(self, latency=seconds)

    def dripping(self, seconds):
        return replace(self, drip=seconds)

    def cut(self):
        return replace(self, manner="cut")

    def hanging(self):
        return replace(self, manner="hang")


def said(text, finish="stop", refusal=None, usage=(100, 20)):
    """A completion; `usage` None leaves the tokens out."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text, "refusal": refusal},
            }
        ],
    }
    if usage:
        tokens_in, tokens_out = usage
        body["usage"] = {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        }
    return Reply(200, json.dumps(body).encode())


def failed(status, message, code=None, kind="error", **headers):
    """An error as OpenAI writes it; headers by keyword, `retry_after="3"`."""
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return Reply(status, json.dumps(body).encode(), {name.replace("_", "-"): value for name, value in headers.items()})


def page(status, text):
    """Something else than JSON, as a proxy before the service would give."""
    return Reply(status, text.encode(), {"content-type": "text/html"})


def busy(retry_after=None):
    headers = {} if retry_after is None else {"retry_after": retry_after}
    return failed(429, "Rate limit reached for requests", "rate_limit_exceeded", "requests", **headers)


def no_quota():
    message = "You exceeded your current quota, please check your plan and billing details."
    return failed(429, message, "insufficient_quota", "insufficient_quota")


def wrong_key():
    return failed(401, "Incorrect API key provided: sk-secret-of-mine.", "invalid_api_key", "invalid_request_error")


def too_long():
    message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    return failed(400, message, "context_length_exceeded", "invalid_request_error")


def no_format(kind):
    """As of a server that does not know the response_format `kind`."""
    message = f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model."
    return failed(400, message, None, "invalid_request_error")


def prompt_of(body):
    """Give all that the messages say, as one text."""
    return "\n\n".join(message["content"] for message in body["messages"])


def passage_of(body):
    """Give the text of the (last) passage that is asked about."""
    found = _PASSAGE.findall(prompt_of(body))
    return found[-1] if found else body["messages"][-1]["content"]


def found_in(text, body):
    """Find names by their capitals, each related to the next of its sentence; types are the schema's first ones."""
    entity, relation = _items(body, "entities"), _items(body, "relationships")
    entities, relationships = {}, []
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        names = list(_NAME.finditer(sentence))
        for name in names:
            found = {"name": name[0], "type": _first(entity, "Unknown"), "description": sentence[:80]}
            sure = {"confidence": 0.9} if "confidence" in entity else {}
            entities.setdefault(name[0], found | sure)
        for source, target in itertools.pairwise(names):
            ends = {"source": source[0], "target": target[0], "type": _first(relation, "RELATED_TO")}
            quote = sentence[source.start() : target.end()]
            relationships.append({**ends, "description": sentence[:80], "quote": quote})
    return {"entities": list(entities.values()), "relationships": relationships}


def _items(body, name):
    """Give what the asked schema says of the things in a list of the answer, by property; {}: it says nothing."""
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    item = schema.get("properties", {}).get(name, {}).get("items", {})
    return item.get("anyOf", [item])[0].get("properties", {})


def _first(item, otherwise):
    return next(iter(item.get("type", {}).get("enum", ())), otherwise)


def extract(body):
    """Answer as a careful model would."""
    return said(json.dumps(found_in(passage_of(body), body)))


@dataclass(frozen=True)
class Seen:
    """A request: when it came (monotonic seconds), and what it asked."""

    arrived: float
    body: dict
    headers: dict[str, str]

    @property
    def prompt(self):
        return prompt_of(self.body)

    @property
    def passage(self):
        return passage_of(self.body)


class ScriptedLlm:
    """Serves until it is closed, on a thread of its own; `answer` makes a reply of a request's body."""

    def __init__(self, answer=extract, *, latency=0.0, port=0):
        self.answer = answer
        self.requests = []
        self.most_in_flight = 0
        self._latency, self._port = latency, port
        self._in_flight = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("The scripted server does not start.")
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self._port}/v1"

    def count(self):
        """Say what was asked so far: requests, how many at once, each prompt's times, and when all came."""
        requests = list(self.requests)
        return {
            "requests": len(requests),
            "most_in_flight": self.most_in_flight,
            "prompts": Counter(seen.prompt for seen in requests),
            "arrivals": [seen.arrived for seen in requests],
        }

    def _serve(self):
        asyncio.set_event_loop(self._loop)
        starting = asyncio.start_server(self._accept, "127.0.0.1", self._port, backlog=1024)
        server = self._loop.run_until_complete(starting)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _accept(self, reader, writer):
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the other side went away, as it may, or the server ends
        finally:
            writer.close()

    async def _exchange(self, reader, writer):
        """Answer one request; False where the connection is to be closed."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        if first.startswith("GET /count"):
            return await _give(writer, Reply(200, json.dumps(self.count()).encode()))
        if not first.startswith("POST /v1/chat/completions "):
            return await _give(writer, failed(404, f"There is nothing at {first}"))
        body = json.loads(data)
        self.requests.append(Seen(time.monotonic(), body, headers))
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            reply = self.answer(body)
            await asyncio.sleep(reply.latency or self._latency)
            if reply.manner == "hang":
                await asyncio.Event().wait()
            return await _give(writer, reply)
        finally:
            self._in_flight -= 1


async def _give(writer, reply):
    headers = {"content-type": "application/json", "content-length": len(reply.body), **reply.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, 'Error')}\r\n{lines}\r\n".encode()
    if reply.drip:
        writer.write(head)
        for place in range(len(reply.body)):
            writer.write(reply.body[place : place + 1])
            await writer.drain()
            await asyncio.sleep(reply.drip)
        return True
    cut = reply.manner == "cut"
    writer.write(head + (reply.body[: len(reply.body) // 2] if cut else reply.body))
    await writer.drain()
    return not cut


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="Seconds before each answer.")
    given = parser.parse_args()
    with ScriptedLlm(latency=given.latency, port=given.port) as server:
        print(server.base_url, flush=True)  # noqa: T201 - whoever started it reads it
        threading.Event().wait()


if __name__ == "__main__":
    main()
