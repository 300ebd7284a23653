"""A subject that answers well until the stage named, and then does what its argument says."""

import json
import os
import signal
import subprocess
import sys
import time

HOW = sys.argv[1]
BAD = sys.argv[2] if len(sys.argv) > 2 else "hypergradient"
ABOUT = {
    "protocol": "f2csa-wire/1", "name": "misbehaving", "language": "Python", "version": "1",
    "capabilities": ["lower_level", "activation", "hypergradient", "optimise"],
}  # fmt: skip


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def misbehave(message):
    number = message["id"]
    good = {"jsonrpc": "2.0", "id": number, "result": {"hypergradient": message["params"].get("x")}}
    if HOW == "hang":
        time.sleep(600)
    elif HOW == "spin":
        while True:
            pass
    elif HOW == "exit":
        sys.stderr.write("first words\nout of luck\n")
        sys.exit(7)
    elif HOW == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif HOW == "garbage":
        say("Segmentation fault? No, \x1b[31mjust printing\n")
    elif HOW == "bytes":
        sys.stdout.buffer.write(b"\xff\xfe\x00\n")
        sys.stdout.flush()
    elif HOW == "flood":
        while True:
            say("x" * 65536)
    elif HOW == "chatter":
        say("[1]\n" * 10000)
    elif HOW == "half":
        say(json.dumps(good)[:25])
        time.sleep(600)
    elif HOW == "half-exit":
        say(json.dumps(good)[:25])
        sys.exit(0)
    elif HOW == "nan":
        say(json.dumps(good | {"result": {"hypergradient": [float("nan")] * len(message["params"]["x"])}}) + "\n")
    elif HOW == "infinity":
        say(json.dumps(good).replace("[", "[1e999, ") + "\n")
    elif HOW == "null":
        say(json.dumps(good | {"result": {"hypergradient": [None]}}) + "\n")
    elif HOW == "text":
        say(json.dumps(good | {"result": {"hypergradient": ["1.0"]}}) + "\n")
    elif HOW == "true":
        say(json.dumps(good | {"result": {"hypergradient": [True]}}) + "\n")
    elif HOW == "missing":
        say(json.dumps(good | {"result": {"gradient": [1.0]}}) + "\n")
    elif HOW == "shape":
        say(json.dumps(good | {"result": {"hypergradient": [1.0] * 7}}) + "\n")
    elif HOW == "lie":
        say(json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no method"}}) + "\n")
    elif HOW == "refuse":
        say(json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": -32001, "message": "only repaired"}}) + "\n")
    elif HOW == "error":
        text = "it\ndiverged\x1b[2J" + "!" * 10000
        say(json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": -32000, "message": text}}) + "\n")
    elif HOW == "text-id":
        say(json.dumps(good | {"id": str(number)}) + "\n")
    elif HOW == "double-id":
        say(json.dumps(good | {"id": float(number), "result": {"hypergradient": [1.0]}}) + "\n")
    elif HOW == "huge":
        say(json.dumps(good).replace("[", "[1" + 400 * "0" + ", ") + "\n")
    elif HOW == "empty-line":
        say("\n")
    elif HOW == "pretty":
        say(json.dumps(good, indent=1) + "\n")
    elif HOW == "request":
        say(json.dumps(message) + "\n")
    elif HOW == "null-error":
        say(json.dumps(good | {"error": None}) + "\n")
    elif HOW == "wrong-id":
        say(json.dumps(good | {"id": number + 1}) + "\n")
    elif HOW == "twice":
        say((json.dumps(good) + "\n") * 2)
    elif HOW == "two-ids":
        say(json.dumps(good).replace('"id":', f'"\\u0069d": {number + 1}, "id":') + "\n")
    elif HOW == "two-results":
        say(json.dumps(good).replace('"result":', '"result": {"note": "a \\": b"}, "result":') + "\n")
    elif HOW == "close":
        os.close(1)
        time.sleep(600)
    elif HOW == "close-input":
        os.close(0)
        say(json.dumps(good) + "\n")
        time.sleep(600)
    elif HOW == "memory":
        kept = bytearray(300 << 20)
        time.sleep(600)
        del kept
    elif HOW == "memory-of-a-child":
        program = "import time; kept = bytearray(300 << 20); time.sleep(600)"
        subprocess.Popen([sys.executable, "-S", "-c", program], start_new_session=True)
        time.sleep(600)
    elif HOW == "oracle":
        say(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "oracle", "params": {"z": [0.0]}}) + "\n")
        time.sleep(600)
    elif HOW == "deep":
        say("[" * 100000 + "\n")
    elif HOW == "grandchild":
        # One in the same session, one that moved to a session of its own.
        for own in (False, True):
            subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"], start_new_session=own)
        time.sleep(600)
    elif HOW == "stderr":
        while True:
            os.write(2, b"complaint\n" * 6000)


def main():
    sizes = {}
    for line in sys.stdin:
        message = json.loads(line)
        method, params = message.get("method"), message.get("params") or {}
        if method == BAD:
            misbehave(message)
            continue
        if method == "problem":
            sizes[params["id"]] = params
        results = {"initialize": ABOUT, "activation": {"rho": [1.0] * len(params.get("h", []))}}
        if method == "lower_level":
            given = sizes[params["problem"]]
            results[method] = {"y_star": [0.0] * given["m"], "lam": [0.0] * given["p"]}
        if method == "hypergradient":
            results[method] = {"hypergradient": params["x"]}
        if "id" in message:
            say(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": results.get(method, {})}) + "\n")
        if method == "shutdown":
            return


if __name__ == "__main__":
    main()
