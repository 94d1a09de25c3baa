import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { defaultLimits } from '../../../src/common/run/limits.js'
import { checkHostedCode } from '../../../src/config/run/check-hosted-code.js'
import { parseConfig } from '../../../src/config/parse-config.js'
import { defineBackend, type Tool } from '../../../src/index.js'
import { type Language, languages } from '../../../src/languages/index.js'
import { containerCreateOptions } from '../../../src/sandbox/docker/container/container-create-options.js'
import { readImageSource } from '../../../src/sandbox/docker/image/image-source.js'
import { runnerDirectory } from '../../../src/sandbox/runner-directory.js'
import { createWasmBackend } from '../../../src/sandbox/wasm/index.js'
import { createRegistry } from '../../../src/tools/registry.js'
import { startWorker } from '../../../src/worker/index.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { createSpec } from '../../support/sandbox/create-spec.js'
import { LineBackend, lineLanguage } from '../../support/sandbox/line-language.js'
import { answerResult, code, turn } from '../../support/script.js'
import { sharedServer, uniqueName } from '../../support/temporal/shared-server.js'
import { tool } from '../../support/tools.js'

/** The list that a new language is added to. */
const list = languages as Language[]

beforeAll(() => void list.push(lineLanguage))
afterAll(() => void list.splice(list.indexOf(lineLanguage), 1))

/** An environment whose only worker runs lines in place of the default language. */
async function startLines(tools: readonly Tool[], script: Parameters<typeof TestEnvironment.start>[0]) {
  const env = await TestEnvironment.start({ ...script, initialWorkers: [] })
  const backend = new LineBackend()
  const mine = defineBackend({ name: backend.name, create: () => backend })
  const { address, namespace } = sharedServer()
  const config = parseConfig(
    { tools, model: { name: 'scripted' }, sandbox: { backend: mine }, taskQueue: env.taskQueue },
    'test',
  )
  const registry = createRegistry(tools, undefined, undefined, lineLanguage)
  const worker = await startWorker({
    server: { address, namespace, connectionOptions: { address } },
    modelApi: { baseURL: env.api.url, apiKey: 'test-key' },
    hostId: uniqueName('test'),
    onProgress: () => undefined,
    config: { ...config, tools: { ...config.tools, open: async () => ({ ...(await config.tools.open()), registry }) } },
  })
  onTestFinished(() => worker.shutdown())
  return { env, backend }
}

it('a run in a second language tells the model of it, calls tools, and is rebuilt after the loss of its sandbox', async () => {
  const calls: unknown[] = []
  const double = tool('double', (input) => {
    calls.push(input['n'])
    return Number(input['n']) * 2
  })
  const lose = tool('lose', () => backend.loseAll().then(() => 'lost'))
  const { env, backend } = await startLines([double, lose], {
    script: [
      turn(code('set greeting hello\nx = double {"n": 21}\nprint x\ny = lose {}\nprint y')),
      turn(code('print greeting\nprint x')),
      answerResult,
    ],
  })
  const run = await env.startAgent({ question: 'What is 21 doubled?', input: { a: 1 } })
  expect(await run.result()).toMatchObject({ status: 'answered', answer: 'hello\n42' })
  expect(calls).toEqual([21])
  expect(backend.opened).toEqual(['lines', 'lines'])
  const [request] = env.api.requests
  const described = JSON.stringify(request?.body)
  expect(described).toContain('Runs lines, for 90 seconds, with a object of lines.')
  expect(described).toContain('double JSON -- The double of a test.')
  expect(described).not.toMatch(/python/i)
})

it('the image has the runner of a second language, and a container starts it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ptc-lines-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(runnerDirectory, folder, { recursive: true })
  mkdirSync(join(folder, 'lines'))
  writeFileSync(join(folder, 'lines/runner.lines'), '')
  writeFileSync(join(folder, 'lines/notes.txt'), '')
  const { files } = readImageSource(folder)
  expect(files.filter((file) => file.startsWith('lines/'))).toEqual(['lines/runner.lines'])
  const body = { image: 'any', userId: 1, labels: {}, limits: defaultLimits, seccomp: '' }
  const { Entrypoint, Env } = containerCreateOptions({ ...body, language: 'lines' })
  expect(Entrypoint.slice(-3)).toEqual(['/usr/bin/lines', '--strict', '/opt/durable-ptc/lines/runner.lines'])
  expect(Env).toEqual(['PATH=/usr/bin:/bin', 'HOME=/tmp', 'LANG=C.UTF-8', 'LINES_SEED=0'])
})

it('a backend without a runner for a language refuses its sessions', async () => {
  const backend = createWasmBackend({ warm: 0 })
  onTestFinished(() => backend.close())
  const opened = backend.open({ ...createSpec('s'), language: 'lines' }, AbortSignal.timeout(60_000))
  await expect(opened).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE', message: expect.stringContaining('lines') })
})

it('a provider refuses to execute a language that its API does not have', () => {
  const model = { provider: 'anthropic', name: 'any', maxTokens: 1 }
  const run = { model, hasInput: false, hasClientTools: false, mode: undefined }
  const check = (language?: Language) =>
    checkHostedCode({ ...run, tools: createRegistry([], undefined, undefined, language) }, ['anthropic'])
  check()
  expect(() => check(lineLanguage)).toThrow('the sandbox anthropic does not execute lines')
})
