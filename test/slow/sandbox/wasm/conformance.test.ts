import { describe } from 'vitest'
import { canStripTypes } from '../../../../src/platform/strip-types.js'
import { createWasmBackend } from '../../../../src/sandbox/wasm/index.js'
import { conformanceOptions } from '../../../support/sandbox/conformance-columns.js'
import { describeConformance } from '../../../support/sandbox/describe-conformance.js'

describe('the embedded sandbox', () => {
  describeConformance(conformanceOptions('embeddedPython', () => createWasmBackend({ warm: 1 })))
})

describe('JavaScript in the embedded sandbox', () => {
  describeConformance(conformanceOptions('embeddedJavaScript', () => createWasmBackend({ warm: 0 })))
})

// Node.js 20 can't remove types: test/integration/languages/typescript.test.ts.
describe.runIf(canStripTypes)('TypeScript in the embedded sandbox', () => {
  describeConformance(conformanceOptions('embeddedTypeScript', () => createWasmBackend({ warm: 0 })))
})
