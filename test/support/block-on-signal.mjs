// Preloaded into a worker: SIGUSR2 blocks the main thread until the worker is killed.
process.on('SIGUSR2', () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
