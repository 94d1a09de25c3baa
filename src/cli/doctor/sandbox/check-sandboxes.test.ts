import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { BackendCheck, BackendProblem } from '../../../sandbox/backend.js'
import { parseConfig } from '../../../config/parse-config.js'
import { checkSandboxes } from './check-sandboxes.js'

let dockerCheck: BackendCheck

vi.mock('../../../sandbox/docker/index.js', () => ({
  createDockerBackend: () => ({ check: () => Promise.resolve(dockerCheck), close: () => Promise.resolve() }),
}))
vi.mock('../../../sandbox/wasm/index.js', () => ({
  createWasmBackend: () => {
    throw new Error('there is no Pyodide')
  },
}))

const { sandbox } = parseConfig({ tools: [], sandbox: { backend: 'docker' } }, 'test')

async function dockerStatus(problem: Omit<BackendProblem, 'severity' | 'remedy'>): Promise<string | undefined> {
  dockerCheck = { usable: false, summary: 'Docker', problems: [{ severity: 'error', remedy: 'Do it.', ...problem }] }
  return (await checkSandboxes({ sandbox })).find(({ name }) => name === 'Docker sandbox')?.status
}

describe('checkSandboxes', () => {
  beforeEach(() => {
    dockerCheck = { usable: true, summary: 'Docker', problems: [] }
  })

  it('the check of sandboxes warns of a missing image, which the first worker builds', async () => {
    expect(await dockerStatus({ kind: 'image', message: 'durable-ptc is not there' })).toBe('warning')
  })

  it('the check of sandboxes reports any other problem as an error', async () => {
    expect(await dockerStatus({ message: 'the daemon refuses: the disk with image layers is full' })).toBe('error')
  })
})
