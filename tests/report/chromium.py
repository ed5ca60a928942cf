"""A browser without a window, driven over a pipe by its own protocol; no package is needed for it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess

PATH = shutil.which("chromium") or shutil.which("chromium-browser")
_QUIET = "--headless --no-sandbox --disable-gpu --no-first-run --disable-extensions --disable-component-update".split()


class Chromium:
    """One page at a time; what it asks of the network and says in its console is kept."""

    def __init__(self, folder):
        theirs, self._write = os.pipe()
        self._read, back = os.pipe()
        far = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in (theirs, back)]  # where dup2 hits neither
        self._process = subprocess.Popen(
            [PATH, *_QUIET, "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"],
            close_fds=False,
            preexec_fn=lambda: [os.dup2(fd, place) for fd, place in zip(far, (3, 4), strict=True)],
            stderr=subprocess.DEVNULL,
        )
        for fd in (theirs, back, *far):
            os.close(fd)
        self._buffer, self._last, self._session = b"", 0, None
        self.said, self.asked, self._loaded = [], [], False
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        """Ask for something, and wait for the answer."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def open(self, path, width=1280, height=1000, dark=False, scripts=True):
        """Show a file, and wait until it is loaded and has nothing left to unpack."""
        self.said, self.asked = [], []
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._loaded = False
        self.call("Page.navigate", url=path.as_uri())
        while not self._loaded:
            self._next()
        done = "!/…|needs a/.test(document.querySelector('#x-status')?.textContent)"
        while scripts and not self.run(done):
            assert not any("exceptionDetails" in said for said in self.said), self.said

    def run(self, code):
        """The value of an expression in the page."""
        made = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in made, made
        return made["result"].get("value")

    def screenshot(self, path, whole=True):
        """A picture of the page as PNG."""
        import base64

        made = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(made["data"]))

    def close(self):
        """End the browser."""
        self._session = None
        self.call("Browser.close")
        self._process.wait(20)
        os.close(self._write)
        os.close(self._read)

    def _next(self):
        while b"\0" not in self._buffer:
            more = os.read(self._read, 1 << 20)
            assert more, "the browser has ended"
            self._buffer += more
        one, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(one)
        params = message.get("params", {})
        self._loaded |= message.get("method") == "Page.loadEventFired"
        if message.get("method") == "Log.entryAdded":
            self.said.append(params["entry"]["text"])
        if message.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
            self.said.append(json.dumps(params)[:500])
        if message.get("method") == "Network.requestWillBeSent":
            self.asked.append(params["request"]["url"])
        return message
