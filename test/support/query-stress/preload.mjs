// Preloaded into the workflow workers of the query stress test: a small cache, and SIGUSR2 blocks the main thread.
import temporal from '@temporalio/worker'

const { Worker } = temporal
const create = Worker.create.bind(Worker)
Worker.create = (options) => create({ ...options, maxCachedWorkflows: 6 })

// Longer than the sticky timeout of a workflow task. Only Node's main thread is blocked, not the native threads.
process.on('SIGUSR2', () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_300))
