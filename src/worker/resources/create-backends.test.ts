import { expect, test } from 'vitest'
import type { BackendCheck, SandboxBackend } from '../../sandbox/backend.js'
import { defineBackend } from '../../sandbox/define-backend.js'
import { parseConfig } from '../../config/parse-config.js'
import { createBackends } from './create-backends.js'

const fine: BackendCheck = { usable: true, summary: 'fine', problems: [] }

/** A backend that creates no sandboxes and records whether it was closed. */
class FakeBackend implements SandboxBackend {
  readonly name: string
  closed = false
  readonly #check: BackendCheck

  constructor(name: string, check = fine) {
    this.name = name
    this.#check = check
  }

  open = () => Promise.reject(new Error('not here'))
  attach = () => Promise.resolve(undefined)
  remove = () => Promise.resolve()
  check = () => Promise.resolve(this.#check)
  close = () => {
    this.closed = true
    return Promise.resolve()
  }
}

async function prepare(backend: SandboxBackend) {
  const seen: string[] = []
  const definition = defineBackend({
    name: 'mine',
    notice: 'code runs somewhere',
    create: ({ namespace, limits }) => {
      seen.push(namespace, String(limits.turns))
      return backend
    },
  })
  const config = parseConfig({ tools: [], sandbox: { backend: definition }, limits: { turns: 7 } }, 'test')
  const lines: string[] = []
  const sandboxes = await createBackends(config, { owner: 'us', warm: 0, onProgress: (line) => lines.push(line) })
  return { config, sandboxes, lines, seen }
}

test('uses only a custom backend, and passes the namespace and the limits to it', async () => {
  const backend = new FakeBackend('mine', { ...fine, problems: [{ severity: 'warning', message: 'slow', remedy: '' }] })
  const { config, sandboxes, lines, seen } = await prepare(backend)
  expect(config.runConfig.backend).toBe('mine')
  expect(sandboxes).toEqual({ backends: [backend], docker: undefined, notice: 'sandbox: mine; code runs somewhere' })
  expect(seen).toEqual(['us', '7'])
  expect(lines).toEqual(['warning: slow'])
})

test('fails with the problems of an unusable backend, and closes it', async () => {
  const problem = { severity: 'error', message: 'no credit left', remedy: 'Pay.' } as const
  const backend = new FakeBackend('mine', { usable: false, summary: 'off', problems: [problem] })
  const refusal = { code: 'SANDBOX_UNAVAILABLE', message: 'mine: no credit left', hint: 'Pay.' }
  await expect(prepare(backend)).rejects.toMatchObject(refusal)
  expect(backend.closed).toBe(true)
})

test('rejects a backend whose name differs from its definition, because its sandboxes would be lost', async () => {
  const backend = new FakeBackend('other')
  await expect(prepare(backend)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  expect(backend.closed).toBe(true)
})
