"""Chromium as somebody sits before it: real keys, real time, what it draws and what it asks for.

It is driven over two pipes (--remote-debugging-pipe): no port is opened.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE = 300  # seconds, for one answer: of a busy machine and a long script
_KEYS = {"Tab": 9, "Enter": 13, "Space": 32, "ArrowRight": 39, "ArrowLeft": 37, "Home": 36}


class Browser:
    """A browser with one page; `with Browser() as browser`."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="browser-")
        their_in, self.to = os.pipe()
        self.back, their_out = os.pipe()
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
                   "--disable-dev-shm-usage", "--disable-background-networking",
                   "--no-first-run", f"--user-data-dir={self.folder}",
                   "--remote-debugging-pipe", "about:blank"]  # fmt: skip
        self.run = subprocess.Popen(
            command, preexec_fn=lambda: (os.dup2(their_in, 63), os.dup2(their_out, 4),
                                         os.dup2(63, 3)),
            close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(their_in)
        os.close(their_out)
        self.number, self.text, self.session, self.events = 0, b"", None, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        told = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self.session = told["sessionId"]
        for room in ("Page", "Network", "Runtime"):
            self.ask(f"{room}.enable")
        self.ask("Page.setLifecycleEventsEnabled", enabled=True)
        return self

    def __exit__(self, *_):
        self.run.kill()
        self.run.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, method, **said):
        """What the browser answers; what it tells meanwhile is kept in `events`."""
        self.number += 1
        text = {"id": self.number, "method": method, "params": said}
        text |= {"sessionId": self.session} if self.session else {}
        os.write(self.to, json.dumps(text).encode() + b"\0")
        while (told := self._next()).get("id") != self.number:
            self.events.append(told)
        if "error" in told:
            raise RuntimeError(f"{method}: {told['error']['message']}")
        return told["result"]

    def _next(self):
        until = time.monotonic() + PATIENCE
        while b"\0" not in self.text:
            ready = select.select([self.back], [], [], max(0, until - time.monotonic()))[0]
            if not (more := os.read(self.back, 1 << 20) if ready else b""):
                raise RuntimeError("the browser says nothing")
            self.text += more
        line, _, self.text = self.text.partition(b"\0")
        return json.loads(line)

    def open(self, path, width=1200, height=900, *, dark=False):
        """Open a file in a window of a size; returns when all of it is loaded."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme, still])
        self.events.clear()
        loader = self.ask("Page.navigate", url=Path(path).absolute().as_uri())["loaderId"]
        while not any(_loaded(event, loader) for event in self.events):
            self.events.append(self._next())

    def asked_for(self):
        """Addresses that the page asked for, its own file apart."""
        told = [e for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [e["params"]["request"]["url"] for e in told][1:]

    def say(self, expression):
        """What an expression of JavaScript is in the page, once it has come about."""
        told = self.ask("Runtime.evaluate", expression=expression, returnByValue=True,
                        awaitPromise=True)  # fmt: skip
        if "exceptionDetails" in told:
            raise RuntimeError(told["exceptionDetails"]["exception"].get("description"))
        return told["result"].get("value")

    def press(self, key, *, shift=False):
        """Press a key and let it go."""
        own = {"key": " " if key == "Space" else key, "code": key, "modifiers": 8 * shift,
               "windowsVirtualKeyCode": _KEYS[key]}  # fmt: skip
        text = {"Enter": "\r", "Space": " "}.get(key)
        down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        self.ask("Input.dispatchKeyEvent", **own, **down)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **own)

    def picture(self, path):
        """All of the page as PNG."""
        told = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(told["data"]))

    def printed(self, path):
        """The page as it is printed, as PDF."""
        told = self.ask("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        Path(path).write_bytes(base64.b64decode(told["data"]))


def _loaded(event, loader):
    """Whether all of this page is there: the empty one before it may tell late that it is."""
    told = event.get("params", {})
    return (told.get("name"), told.get("loaderId")) == ("load", loader)
