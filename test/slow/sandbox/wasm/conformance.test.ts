import { describe } from 'vitest'
import { createWasmBackend } from '../../../../src/sandbox/wasm/index.js'
import { describeConformance } from '../../../support/sandbox/describe-conformance.js'

describe('the embedded sandbox', () => {
  describeConformance({
    makeBackend: () => createWasmBackend({ warm: 1 }),
    supportsReattach: false,
    supportsInterrupt: true,
    supportsProcesses: false,
    providesIsolation: true,
    supportsFiles: true,
  })
})
