// Loaded into the workflow workers of the query stress test: a small cache, and a main thread that stops when it is told to.
import temporal from '@temporalio/worker'

const { Worker } = temporal
const create = Worker.create.bind(Worker)
Worker.create = (options) => create({ ...options, maxCachedWorkflows: 6 })

// Longer than a workflow task waits for the worker that has its run in the cache. Only Node stops, not the native threads.
process.on('SIGUSR2', () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_300))
