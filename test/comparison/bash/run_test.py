# Runs one of bash's own tests in a process of plain bash, and prints it with its output, as bytes in base64.
import base64, json, os, subprocess, sys, zlib

folder, module, seconds = sys.argv[1:]
os.chdir(folder)


def content(name):
    with open(name, "rb") as file:
        return base64.b64encode(file.read()).decode()


variables = {"THIS_SH": "/bin/bash", "TMPDIR": "/tmp", "BUILD_DIR": "/tmp", "PATH": ".:" + os.environ["PATH"]}
environment = {**os.environ, **variables}
with open("/tmp/test-output", "wb") as output:
    try:
        subprocess.run(
            ["/bin/bash", f"./{module}.tests"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            timeout=float(seconds),
        )
        ended = True
    except subprocess.TimeoutExpired:
        ended = False
test = {
    "hasEnded": ended,
    "source": content(f"{module}.tests"),
    "right": content(f"{module}.right"),
    "output": content("/tmp/test-output"),
}
print(f"\nRESULT:{base64.b64encode(zlib.compress(json.dumps(test).encode(), 9)).decode()}:END")
