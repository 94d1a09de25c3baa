import { describe } from 'vitest'
import { attackHostTools } from '../support/host-tool-attacks.js'

describe('a hostile program and the tools of its host, in the embedded sandbox', () => attackHostTools('wasm'))
