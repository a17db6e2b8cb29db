"""python3 agent.py PROGRAM: talks to `llmcalc mcp` on its standard streams as an agent does, in both revisions."""
import json
import subprocess
import sys

server = subprocess.Popen([sys.argv[1], "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def send(**message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()


def ask(number, method, **params):
    send(id=number, method=method, params=params)
    answer = json.loads(server.stdout.readline())
    assert answer["id"] == number, answer
    return answer["result"]


assert ask(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "test", "version": "1"})[
    "protocolVersion"] == "2025-11-25"
send(method="notifications/initialized")
assert len(ask(2, "tools/list")["tools"]) == 10
question = {"name": "serve", "arguments": {"names": ["llama-3-8b"], "gpu": "rtx-4090", "quant": "awq"}}
old = ask(3, "tools/call", **question)
new = ask("four", "tools/call", **question, _meta=META)
assert new["resultType"] == "complete" and new["content"] == old["content"]
assert old["structuredContent"]["kind"] == "serve" and old["content"][0]["text"].startswith("FITS"), old
assert "ttlMs" in ask(5, "server/discover", _meta=META)
server.stdin.close()
assert server.stdout.read() == "" and server.wait(timeout=10) == 0
