import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { inflateSync } from 'node:zlib'
import { defaultLimits } from '../../dist/common/run/limits.js'
import { runnerDirectory } from '../../dist/sandbox/runner-directory.js'
import { containerCreateOptions } from '../../dist/sandbox/docker/container/container-create-options.js'
import type { DockerBackend } from '../../dist/sandbox/docker/index.js'
import { SessionHost } from '../../dist/sandbox/session/session-host.js'
import { humanEvalScript } from './human-eval.js'
import { docker } from './image.js'
import { timedOut, type Outcomes } from './outcomes.js'

/** Limits of a module. Both runs have the same. */
const moduleSeconds = Number(process.env['PTC_COMPARE_SECONDS'] ?? 300)
const overheadMs = 120_000
/** Twice the default memory: test_ast needs all of that, and the runner itself needs some MiB. */
const limits = { ...defaultLimits, cellSeconds: moduleSeconds, memoryBytes: 2 * defaultLimits.memoryBytes }
const namespace = 'cpython-comparison'
/** A user id like those of sessions: without a name, and too large for some archive formats. */
const userId = 100_000_000

export interface ModuleRun {
  readonly outcomes: Outcomes
  /** Tracebacks of failed tests. */
  readonly problems: string
}

const script = readFileSync(new URL('run_tests.py', import.meta.url), 'utf8')
const scriptFor = (module: string): string =>
  module === 'human-eval' ? humanEvalScript() : script.replace('test.MODULE', `test.${module}`)

/** Runs a module in a container that differs from a sandbox only in the program that it starts. */
export async function runPlain(image: string, module: string): Promise<ModuleRun> {
  const { ended, text } = await runContainer(image, scriptFor(module))
  return parse(text, ended)
}

/** The names of all modules. A test package is listed by its modules. */
export async function allModules(image: string): Promise<string[]> {
  const source = `
import os, test
root = os.path.dirname(test.__file__)
for name in sorted(os.listdir(root)):
    if not name.startswith("test_"): continue
    if name.endswith(".py"): print(name[:-3])
    elif os.path.isdir(os.path.join(root, name)):
        inner = sorted(one[:-3] for one in os.listdir(os.path.join(root, name)) if one.startswith("test_") and one.endswith(".py"))
        print("\\n".join(f"{name}.{one}" for one in inner) or name)
`
  const { ended, text } = await runContainer(image, source)
  const modules = text.trim().split(/\s+/)
  if (modules.length < 2) throw new Error(`no tests of CPython in ${image} (${ended})`)
  return modules
}

async function runContainer(image: string, source: string): Promise<{ readonly ended: string; readonly text: string }> {
  const { Id } = await docker.getImage(image).inspect()
  const seccomp = readFileSync(`${runnerDirectory}image/seccomp.json`, 'utf8')
  const body = containerCreateOptions({ image: Id, userId, labels: {}, language: 'python', limits, seccomp })
  const python = body.Entrypoint.slice(0, -1)
  const container = await docker.createContainer({ ...body, Entrypoint: [...python, '-c', source], StdinOnce: true })
  try {
    const stream = await container.attach({ stream: true, stdout: true, stderr: true, stdin: true, hijack: true })
    const output = new PassThrough()
    docker.modem.demuxStream(stream, output, output)
    let text = ''
    output.on('data', (piece: Buffer) => (text = (text + piece.toString('latin1')).slice(-4_000_000)))
    await container.start()
    stream.end()
    const late = setTimeout(() => void container.kill().catch(() => undefined), moduleSeconds * 1_000)
    const { StatusCode: code } = (await container.wait()) as { StatusCode: number }
    clearTimeout(late)
    return { ended: code === 137 ? timedOut : `exit code ${code}`, text }
  } finally {
    await container.remove({ force: true, v: true })
  }
}

/** Runs a module as a cell of a new session. */
export async function runInRunner(backend: DockerBackend, module: string): Promise<ModuleRun> {
  const host = new SessionHost({ namespace, backends: [backend], tools: [] })
  const session = { id: `cpython-${randomUUID()}`, epoch: 1, backend: backend.name, startedAt: Date.now() }
  const owner = { workflowId: session.id, runId: session.id, language: 'python', limits }
  const signal = AbortSignal.timeout(moduleSeconds * 1_000 + overheadMs)
  try {
    await host.open(session, owner, signal)
    let text = ''
    let now = 0
    for (let number = 1; ; number += 1) {
      const input =
        number === 1
          ? ({ type: 'cell', cell: 1, source: scriptFor(module) } as const)
          : ({ type: 'results', results: [] } as const)
      const options = { attempt: 1, signal, onOutput: () => undefined, readValue: rejectValueReads }
      const answer = await host.executeStep(session, { number, now, waited: 0, input }, owner, options)
      if ('output' in answer) text += answer.output
      if (answer.type !== 'suspended') return parse(text, describeEnd(answer))
      now += answer.wakeInMs ?? 0
    }
  } finally {
    await host.close(session)
  }
}

function rejectValueReads(): never {
  throw new Error('the comparison has no external values')
}

function describeEnd(answer: { readonly type: string; readonly kind?: string; readonly cause?: string }): string {
  if (answer.type === 'lost' || answer.kind === 'timed_out') return timedOut
  return `${answer.type} ${answer.kind ?? ''}`.trim()
}

/** The outcomes that run_tests.py printed, or how the module ended when it printed none. */
function parse(text: string, ended: string): ModuleRun {
  const result = /RESULT:([A-Za-z0-9+/=]+):END/.exec(text)?.[1]
  if (result === undefined) return { outcomes: { '(module)': ended }, problems: text.slice(-2_000) }
  return JSON.parse(inflateSync(Buffer.from(result, 'base64')).toString()) as ModuleRun
}
