"""Headless Chromium over its debugging pipe, with the standard library alone."""

import json
import os
import select
import shutil
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
#: Every host but this machine's files is out of reach; a request to one is an error we see.
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--window-size=1400,1000",
    "--remote-debugging-pipe",
)


def find_chromium():
    """Path of the first Chromium on this machine, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class BrowserError(RuntimeError):
    """The browser does not start here, or ended."""


class Page:
    """One page of a browser of its own; it keeps what the console and the network said.

    Parameters
    ----------
    binary : str
        Path of the browser.
    profile : Path
        Empty folder for the browser's profile.

    Attributes
    ----------
    problems : list of str
        Uncaught exceptions, console errors and failed loads; no warnings, of which the
        report's bundled libraries have some.
    requests : list of str
        Every address that was asked for.
    """

    def __init__(self, binary, profile):
        self.problems, self.requests = [], []
        self._buffer, self._count = b"", 0
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # Chromium reads commands from descriptor 3 and answers on 4; the shell puts them there.
        shell = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", binary, *FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._session = None
        try:
            self._attach()
        except BrowserError:
            self.__exit__()
            raise

    def _attach(self):
        """Open one page and listen to what it says."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        answer = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = answer["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def call(self, method, **parameters):
        """Send one command of the DevTools protocol and return its result."""
        self._count += 1
        number = self._count
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        try:
            os.write(self._write, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise BrowserError("the browser ended") from None
        while True:
            answer = self._message()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def evaluate(self, expression):
        """Value of a JavaScript expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, f"{expression}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def wait_until(self, expression, timeout=20):
        """Wait until an expression is true; its value."""
        end = time.monotonic() + timeout
        while not (value := self.evaluate(expression)):
            assert time.monotonic() < end, f"not within {timeout} s: {expression}"
            time.sleep(0.05)
        return value

    def _message(self, timeout=60):
        """Next message of the browser; events are noted on the way."""
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], timeout)
            part = os.read(self._read, 1 << 20) if ready else b""
            if not part:
                why = "ended" if ready else f"was silent for {timeout} s"
                raise BrowserError(f"the browser {why}")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, event, told):
        """Keep what a test wants to know."""
        if event == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif event == "Network.loadingFailed" and not told.get("canceled"):
            self.problems.append(f"not loaded: {told['errorText']}")
        elif event == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.problems.append(details.get("exception", details).get("description", str(details)))
        elif event == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            text = " ".join(str(a.get("value", a.get("description"))) for a in told["args"])
            self.problems.append(f"{told['type']}: {text}")
        elif event == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.problems.append(f"error: {told['entry']['text']}")
