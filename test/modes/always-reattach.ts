import { vi } from 'vitest'
import { reattach } from './reattach.js'
import { tellFaults } from './faults.js'
import { watchBackend } from './watched-backend.js'

vi.mock(import('../../src/sandbox/docker/index.js'), async (importOriginal) => {
  const original = await importOriginal()
  return {
    ...original,
    createDockerBackend: (options) => watchBackend(original.createDockerBackend(options), reattach),
  }
})

vi.mock(import('../../src/sandbox/wasm/index.js'), async (importOriginal) => {
  const original = await importOriginal()
  return { ...original, createWasmBackend: (options) => watchBackend(original.createWasmBackend(options), reattach) }
})

tellFaults()
