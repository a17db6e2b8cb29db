"""python3 progress.py PROGRAM MEASURED: who waits at a terminal sees how far it is, and Ctrl-C keeps what there is so far."""
import glob
import http.server
import os
import pty
import signal
import subprocess
import sys
import threading
import time

program, measured = sys.argv[1:3]


def watch(words, until, interrupts, **variables):
    """What stderr shows on a terminal up to `until`, then the rest of it, stdout and the exit code."""
    ours, theirs = pty.openpty()
    run = subprocess.Popen([program, *words], stdout=subprocess.PIPE, stderr=theirs, text=True,
                           env={**os.environ, "TERM": "xterm", "XDG_CONFIG_HOME": "/nonexistent", **variables})
    os.close(theirs)
    shown, sent = b"", False

    def drain():
        nonlocal shown, sent
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:
                return
            if not piece:
                return
            shown += piece
            if interrupts and until in shown and not sent:
                sent = True
                run.send_signal(signal.SIGINT)

    reader = threading.Thread(target=drain)
    reader.start()
    answer = run.stdout.read()
    code = run.wait()
    reader.join()
    return shown.decode(), answer, code


files = sorted(glob.glob(measured + "/*.csv")) * 4
shown, answer, code = watch(["validate", *files], b" %", True)
assert "[" in shown and " %" in shown and shown.endswith("\r\x1b[K"), shown[-300:]
assert code == 0 and "interrupted before it" in answer, answer[-500:]
shown, _, code = watch(["validate", files[0], "--quiet"], b" %", False)
assert "%" not in shown and code == 0


class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(2.5)
        self.send_error(404)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Slow)
threading.Thread(target=server.serve_forever, daemon=True).start()
endpoint = f"http://127.0.0.1:{server.server_address[1]}"
hub = {"HF_ENDPOINT": endpoint, "HF_HUB_CACHE": "/nonexistent", "NO_PROXY": "*", "no_proxy": "*"}
shown, _, code = watch(["fit", "--from", "nobody/nothing", "--gpu", "rtx-4090"], b"", False, **hub)
assert code == 2 and ("reading " + endpoint in shown or "libcurl is not installed" in shown or "without" in shown), shown
print("progress is shown")
