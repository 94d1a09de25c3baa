import { describe } from 'vitest'
import { createWasmBackend } from '../../src/sandbox/wasm/index.js'
import { conformance } from './conformance.js'

describe('the embedded sandbox', () => {
  conformance({
    makeBackend: () => createWasmBackend({ warm: 1 }),
    survivesItsMaker: false,
    stopsCode: true,
    hasProcesses: false,
    isBoundary: true,
  })
})
