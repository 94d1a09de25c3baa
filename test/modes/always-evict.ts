import { vi } from 'vitest'
import { evictSandbox } from './evict-sandbox.js'
import { reportFaults } from './faults.js'
import { injectBackendFault } from './fault-injecting-backend.js'

// Mode always-evict: every suspension destroys the sandbox, so that the next step is a rebuild. Proof: the test
// `mode-control.test.ts` of runs.

vi.mock(import('../../src/sandbox/docker/index.js'), async (importOriginal) => {
  const original = await importOriginal()
  return {
    ...original,
    createDockerBackend: (options) => injectBackendFault(original.createDockerBackend(options), evictSandbox),
  }
})

vi.mock(import('../../src/sandbox/wasm/index.js'), async (importOriginal) => {
  const original = await importOriginal()
  return {
    ...original,
    createWasmBackend: (options) => injectBackendFault(original.createWasmBackend(options), evictSandbox),
  }
})

reportFaults()
