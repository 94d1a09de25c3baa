import { vi } from 'vitest'
import { dropConnection } from './drop-connection.js'
import { reportFaults } from './faults.js'
import { injectBackendFault } from './fault-injecting-backend.js'

// Mode always-reattach: a connection breaks as soon as it has delivered a message, and the sandbox keeps running.
// Proof: the test `mode-control.test.ts` of runs.

vi.mock(import('../../src/sandbox/docker/index.js'), async (importOriginal) => {
  const original = await importOriginal()
  return {
    ...original,
    createDockerBackend: (options) => injectBackendFault(original.createDockerBackend(options), dropConnection),
  }
})

vi.mock(import('../../src/sandbox/wasm/index.js'), async (importOriginal) => {
  const original = await importOriginal()
  return {
    ...original,
    createWasmBackend: (options) => injectBackendFault(original.createWasmBackend(options), dropConnection),
  }
})

reportFaults()
