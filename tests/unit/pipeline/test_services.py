"""What a model's service answers for load becomes an error that passes, with the wait that it asks for."""

import pickle
import socket
import threading
import urllib.request
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import openai
import pytest

from pipeline.adapters.callables import CallableEmbedder, CallableExtractor
from pipeline.errors import ModelBusy, TransientError
from pipeline.ontology import DEFAULT_ONTOLOGY


class Service(ThreadingHTTPServer):
    """Answers everything with one status and, where there is one, a Retry-After."""

    daemon_threads = True
    status, retry_after = 200, None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(self.server.status)
        if self.server.retry_after is not None:
            self.send_header("Retry-After", self.server.retry_after)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def service():
    with Service(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def by_httpx(url):
    httpx.post(url, timeout=5).raise_for_status()


def by_urllib(url):
    try:
        with urllib.request.urlopen(url, b"text", timeout=5):
            pass
    except urllib.request.HTTPError as error:
        error.close()
        raise


def by_openai(url):
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=5) as client:
        client.completions.create(model="m", prompt="p")


CALLS = [by_httpx, by_urllib, by_openai]


def extract_by(call, url):
    return CallableExtractor(lambda _: call(url), "f").extract(["text"], DEFAULT_ONTOLOGY)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("status", [429, 503])
def test_a_rate_limit_is_waited_out_for_as_long_as_the_service_asks(service, call, status):
    service.status, service.retry_after = status, "37"
    with pytest.raises(ModelBusy, match=r"the extract function: .* \(it asks for 37 s\)") as caught:
        extract_by(call, service.url)
    assert caught.value.retry_after == 37


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_request_that_is_wrong_is_no_error_that_passes(service, call, status):
    service.status = status
    with pytest.raises(Exception, match=str(status)) as caught:
        extract_by(call, service.url)
    assert not isinstance(caught.value, TransientError)


@pytest.mark.parametrize("call", CALLS)
def test_a_service_that_nobody_answers_for_is_waited_for(call):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        # Bound and not listening: the connection is refused.
        with pytest.raises(ModelBusy) as caught:
            extract_by(call, f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert caught.value.retry_after == 0


def test_an_embed_function_is_treated_alike(service):
    service.status, service.retry_after = 429, "2"
    with pytest.raises(ModelBusy, match="own: HTTPStatusError") as caught:
        CallableEmbedder(lambda _: by_httpx(service.url), "own")
    assert caught.value.retry_after == 2


def test_a_date_is_understood_as_the_instant_to_wait_for(service):
    then = datetime.now(UTC) + timedelta(seconds=100)
    service.status, service.retry_after = 429, format_datetime(then, usegmt=True)
    with pytest.raises(ModelBusy) as caught:
        extract_by(by_httpx, service.url)
    assert 90 < caught.value.retry_after <= 100


@pytest.mark.parametrize("unreadable", ["", "soon", "nan", "-5", "1e999"])
def test_a_wait_that_cannot_be_read_is_none(service, unreadable):
    service.status, service.retry_after = 429, unreadable
    with pytest.raises(ModelBusy) as caught:
        extract_by(by_httpx, service.url)
    assert caught.value.retry_after == 0


def test_a_wait_in_milliseconds_is_the_finer_one():
    error = ConnectionError("full")
    error.response = httpx.Response(429, headers={"Retry-After": "1", "Retry-After-Ms": "350"})
    with pytest.raises(ModelBusy) as caught:
        fail_with(error).extract(["text"], DEFAULT_ONTOLOGY)
    assert caught.value.retry_after == 0.35


def test_the_wait_is_found_where_litellm_keeps_it():
    error = ConnectionError("full")
    error.response = httpx.Response(429)
    error.litellm_response_headers = {"retry-after": "7"}
    with pytest.raises(ModelBusy) as caught:
        fail_with(error).extract(["text"], DEFAULT_ONTOLOGY)
    assert caught.value.retry_after == 7


def fail_with(error):
    def extract(_):
        raise error

    return CallableExtractor(extract, "f")


@pytest.mark.parametrize("error", [TimeoutError("slow"), ConnectionResetError("cut"), BrokenPipeError("cut")])
def test_timeouts_and_broken_connections_of_python_itself_pass(error):
    with pytest.raises(ModelBusy):
        fail_with(error).extract(["text"], DEFAULT_ONTOLOGY)


def test_our_own_error_of_a_users_function_is_left_as_it_is():
    mine = TransientError("the quota of this minute is used up", retry_after=60)
    with pytest.raises(TransientError) as caught:
        fail_with(mine).extract(["text"], DEFAULT_ONTOLOGY)
    assert caught.value is mine


@pytest.mark.parametrize("error", [KeyError("entities"), ValueError("status 429"), FileNotFoundError("key.txt")])
def test_faults_of_a_users_function_stay_what_they_are(error):
    with pytest.raises(type(error)):
        fail_with(error).extract(["text"], DEFAULT_ONTOLOGY)


def test_a_time_limit_that_a_library_took_for_a_broken_connection_ends_the_task_all_the_same():
    from billiard.exceptions import SoftTimeLimitExceeded

    def extract(_):
        raise ConnectionError("cut") from SoftTimeLimitExceeded()

    with pytest.raises(SoftTimeLimitExceeded):
        CallableExtractor(extract, "f").extract(["text"], DEFAULT_ONTOLOGY)


def test_the_wait_survives_the_way_between_processes():
    error = pickle.loads(pickle.dumps(ModelBusy("full", retry_after=7.0)))
    assert (str(error), error.retry_after) == ("full", 7.0)
