import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { defaultLimits } from '../../../src/common/run/limits.js'
import { checkHostedCode } from '../../../src/config/run/check-hosted-code.js'
import type { ExecuteOptions } from '../../../src/client/sessions/execute.js'
import { parseConfig } from '../../../src/config/parse-config.js'
import type { PtcConfig } from '../../../src/config/define-config.js'
import { defined } from '../../../src/common/defined.js'
import { defineAgent, defineBackend } from '../../../src/index.js'
import { type Language, languages } from '../../../src/languages/index.js'
import { containerCreateOptions } from '../../../src/sandbox/docker/container/container-create-options.js'
import { readImageSource } from '../../../src/sandbox/docker/image/image-source.js'
import { runnerDirectory } from '../../../src/sandbox/runner-directory.js'
import { createWasmBackend } from '../../../src/sandbox/wasm/index.js'
import { createRegistry } from '../../../src/tools/registry.js'
import { startWorker } from '../../../src/worker/index.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../../support/environment/test-environment.js'
import { createSpec } from '../../support/sandbox/create-spec.js'
import { LineBackend, lineLanguage } from '../../support/sandbox/line-language.js'
import { answerResult, call, code, noModel, turn } from '../../support/script.js'
import { sharedServer, uniqueName } from '../../support/temporal/shared-server.js'
import { tool } from '../../support/tools.js'

/** The list that a new language is added to. */
const list = languages as Language[]

beforeAll(() => void list.push(lineLanguage))
afterAll(() => void list.splice(list.indexOf(lineLanguage), 1))

/** Code in a language. */
const codeIn = (language: string, text: string) => call('execute_code', { language, code: text })

interface LinesOptions extends Pick<PtcConfig, 'tools' | 'agents' | 'language'> {
  readonly script: TestEnvironmentOptions['script']
}

/** An environment whose only worker has sandboxes for lines, and for no other language. */
async function startLines({ script, ...options }: LinesOptions) {
  const env = await TestEnvironment.start({ ...defined({ script }), initialWorkers: [] })
  const backend = new LineBackend()
  const mine = defineBackend({ name: backend.name, create: () => backend })
  const { address, namespace } = sharedServer()
  const worker = await startWorker({
    server: { address, namespace, connectionOptions: { address } },
    modelApi: { baseURL: env.api.url, apiKey: 'test-key' },
    hostId: uniqueName('test'),
    onProgress: () => undefined,
    config: parseConfig(
      { model: { name: 'scripted' }, sandbox: { backend: mine }, taskQueue: env.taskQueue, ...options },
      'test',
    ),
  })
  onTestFinished(() => worker.shutdown())
  return { env, backend }
}

const double = tool('double', (input) => Number(input['n']) * 2)

it('a run in the configured language tells the model of it, calls tools, and is rebuilt after the loss of its sandbox', async () => {
  const calls: unknown[] = []
  const double = tool('double', (input) => {
    calls.push(input['n'])
    return Number(input['n']) * 2
  })
  const lose = tool('lose', () => backend.loseAll().then(() => 'lost'))
  const { env, backend } = await startLines({
    tools: [double, lose],
    language: 'lines',
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
  await env.expectCleanEnd(run)
})

it('a program, a session and an agent are in the language that they name, on workers with another default', async () => {
  const liner = defineAgent({ name: 'liner', instructions: 'You write lines.', language: 'lines' })
  const { env, backend } = await startLines({
    tools: [double],
    agents: [liner],
    script: [turn(code('x = double {"n": 4}\nprint x')), answerResult],
  })
  const source = 'x = double {"n": 3}\nprint x'
  expect(await env.runProgram(source, { language: 'lines' })).toMatchObject({
    outcome: { status: 'ok', output: '6\n' },
  })
  expect(await env.runAgent({ agent: 'liner' })).toMatchObject({ status: 'answered', answer: '8' })
  const execute = (line: string, language?: string) =>
    env.ptc.sessions.execute('books', line, { ...defined({ language }) })
  expect(await execute('set greeting hello', 'lines')).toMatchObject({ outcome: { status: 'ok' }, isNew: true })
  expect(await execute('print greeting')).toMatchObject({ outcome: { status: 'ok', output: 'hello\n' }, isNew: false })
  expect(await env.ptc.sessions.show('books')).toMatchObject({ language: 'lines' })
  await expect(execute('print(1)', 'python')).rejects.toMatchObject({
    code: 'RUN_INPUT_INVALID',
    message: expect.stringContaining('session books runs lines, not python'),
  })
  await env.ptc.sessions.close('books')
  expect(backend.opened).toEqual(['lines', 'lines', 'lines'])
})

it('a named session starts in the language of the run that needs it, and refuses the code of runs in another', async () => {
  const { env } = await startLines({
    tools: [double],
    script: {
      conversations: [
        {
          match: { firstUserText: { equals: 'lines' } },
          turns: [turn(code('set greeting hello\nprint greeting')), answerResult],
        },
        { match: { firstUserText: { equals: 'python' } }, turns: [turn(code('print(greeting)')), answerResult] },
      ],
    },
  })
  const lines = await env.runAgent({ question: 'lines', session: 'books', language: 'lines' })
  expect(lines).toMatchObject({ status: 'answered', answer: expect.stringContaining('hello') })
  const other = await env.runAgent({ question: 'python', session: 'books' })
  expect(other).toMatchObject({ answer: '[denied] session books runs lines, not python' })
  await env.ptc.sessions.close('books')
})

it('a sub-agent in the sandbox of its parent writes the languages of the parent', async () => {
  const about = { instructions: 'You write lines.', description: 'Writes lines.' }
  const helper = defineAgent({ name: 'helper', ...about, sandbox: 'parent' })
  const writer = defineAgent({ name: 'writer', ...about, sandbox: 'parent', language: 'python' })
  const chief = defineAgent({ name: 'chief', ...about, agents: [helper, writer], language: ['lines', 'python'] })
  const { env } = await startLines({
    tools: [double],
    agents: [helper, writer, chief],
    script: {
      conversations: [
        {
          match: { firstUserText: { equals: 'go' } },
          turns: [
            turn(code('set greeting hello')),
            turn(call('helper', { task: 'print' })),
            turn(call('writer', { task: 'print' })),
            answerResult,
          ],
        },
        {
          match: { firstUserText: { equals: 'print' } },
          turns: [turn(codeIn('python', 'print greeting\nprint language')), answerResult],
        },
      ],
    },
  })
  const run = await env.startAgent({ question: 'go', agent: 'chief' })
  const result = await env.agentResult(run)
  expect(JSON.stringify(env.api.requests.map(({ body }) => body))).toContain('hello\\npython')
  expect(result.answer).toContain('agent writer writes python, and the sandbox of its parent runs lines,python')
})

it('each cell of a run with several languages names its language, also when it is repeated', async () => {
  const lose = tool('lose', () => backend.loseAll().then(() => 'lost'))
  const { env, backend } = await startLines({
    tools: [double, lose],
    language: ['lines', 'python'],
    script: [
      turn(code('x = double {"n": 2}\nprint language')),
      turn(codeIn('python', 'print language\nx = lose {}\nprint language')),
      turn(codeIn('lines', 'print language')),
      turn(codeIn('cobol', 'print language')),
      turn(codeIn('x'.repeat(10_000), 'print language')),
      turn(call('execute_code', { language: [1], code: 'print language' })),
      answerResult,
    ],
  })
  const run = await env.startAgent({ question: 'go' })
  const result = await env.agentResult(run)
  expect(result.answer).toBe('there is no language "[1]" here, only lines, python')
  expect(backend.opened).toEqual(['lines,python', 'lines,python'])
  const [request] = env.api.requests
  expect(request?.body).toMatchObject({
    tools: [{ name: 'execute_code', input_schema: { properties: { language: { enum: ['lines', 'python'] } } } }, {}],
  })
  const told = JSON.stringify(env.api.requests.at(-1)?.body)
  expect(told).toContain('python\\npython')
  expect(told).toContain('there is no language \\"cobol\\" here, only lines, python')
  expect(told.split('the first')).toHaveLength(3)
  const cells = (await env.ptc.handle(run.workflowId).tree()).turns.flatMap((each) => each.cells)
  expect(cells.map(({ language }) => language)).toEqual([undefined, 'python', undefined])
  await env.expectCleanEnd(run)
})

it('code in a session names one of the languages of the session', async () => {
  const { env } = await startLines({ tools: [double], script: noModel, language: 'lines,python' })
  const execute = (options: ExecuteOptions) => env.ptc.sessions.execute('books', 'print language', options)
  expect(await execute({ cellLanguage: 'python' })).toMatchObject({ outcome: { output: 'python\n' }, isNew: true })
  expect(await execute({ language: ['lines', 'python'] })).toMatchObject({ outcome: { output: 'the first\n' } })
  await expect(execute({ cellLanguage: 'cobol' })).rejects.toMatchObject({
    code: 'RUN_INPUT_INVALID',
    message: expect.stringContaining('there is no language "cobol" here, only lines, python'),
  })
  await expect(execute({ language: 'python' })).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID' })
  await env.ptc.sessions.close('books')
})

it('a run in an unknown language ends at its start, with the languages that there are', async () => {
  const { env, backend } = await startLines({ tools: [double], script: noModel })
  await expect(env.ptc.startAgent({ question: 'x', language: 'cobol' })).rejects.toMatchObject({
    code: 'RUN_INPUT_INVALID',
    message: expect.stringContaining(
      'there is no language "cobol"; there are: python, javascript, typescript, bash, lines',
    ),
  })
  expect(backend.opened).toEqual([])
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
  expect(Env.at(-1)).toBe('LINES_SEED=0')
  expect(Env.join(' ')).not.toContain('PYTHON')
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
