import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import type { Limits } from '../../dist/common/run/limits.js'
import type { StepResult } from '../../dist/common/session/steps.js'
import { runnerDirectory } from '../../dist/sandbox/runner-directory.js'
import type { SandboxBackend } from '../../dist/sandbox/backend.js'
import { containerCreateOptions } from '../../dist/sandbox/docker/container/container-create-options.js'
import { SessionHost } from '../../dist/sandbox/session/session-host.js'
import { timedOut } from './outcomes.js'
import { docker } from './test-image.js'

const namespace = 'comparison'
/** For starting a session, and for waiting that the time limit of cells does not count. */
const overheadMs = 60_000
/** A user id like those of sessions: without a name, and too large for some archive formats. */
const userId = 100_000_000

/** How code ended: {@link timedOut}, or a text; and what it printed. */
export interface Ended {
  readonly ended: string
  readonly text: string
}

export interface Place {
  readonly language: string
  readonly limits: Limits
}

/**
 * Runs a command in a container that differs from a sandbox only in the program that it starts.
 *
 * @param command gets the options of the interpreter, without the file of the runner
 */
export async function runContainer(
  image: string,
  { language, limits }: Place,
  command: (interpreter: readonly string[]) => readonly string[],
): Promise<Ended> {
  const { Id } = await docker.getImage(image).inspect()
  const seccomp = readFileSync(`${runnerDirectory}image/seccomp.json`, 'utf8')
  const body = containerCreateOptions({ image: Id, userId, labels: {}, language, limits, seccomp })
  const Entrypoint = [...command(body.Entrypoint.slice(0, -1))]
  const container = await docker.createContainer({ ...body, Entrypoint, StdinOnce: true })
  try {
    const stream = await container.attach({ stream: true, stdout: true, stderr: true, stdin: true, hijack: true })
    const output = new PassThrough()
    docker.modem.demuxStream(stream, output, output)
    let text = ''
    output.on('data', (piece: Buffer) => (text = (text + piece.toString('latin1')).slice(-4_000_000)))
    await container.start()
    stream.end()
    const late = setTimeout(() => void container.kill().catch(() => undefined), limits.cellSeconds * 1_000)
    const { StatusCode: code } = (await container.wait()) as { StatusCode: number }
    clearTimeout(late)
    return { ended: code === 137 ? timedOut : `exit code ${code}`, text }
  } finally {
    await container.remove({ force: true, v: true })
  }
}

/** Runs cells in a new session, until one of them does not complete, or until its sandbox is lost. */
export async function runInRunner(
  backend: SandboxBackend,
  { language, limits }: Place,
  cells: readonly string[],
  { stopsAtFailure = true } = {},
): Promise<Ended> {
  const host = new SessionHost({ namespace, backends: [backend], tools: [] })
  const session = { id: `comparison-${randomUUID()}`, epoch: 1, backend: backend.name, startedAt: Date.now() }
  const owner = { workflowId: session.id, runId: session.id, language, limits }
  const signal = AbortSignal.timeout(limits.cellSeconds * 1_000 + overheadMs)
  try {
    await host.open(session, owner, signal)
    let text = ''
    let now = 0
    let number = 0
    let ended = ''
    for (const [index, source] of cells.entries()) {
      let answer: StepResult | undefined
      do {
        number += 1
        const input =
          answer === undefined
            ? ({ type: 'cell', cell: index + 1, source } as const)
            : ({ type: 'results', results: [] } as const)
        const options = { attempt: 1, signal, onOutput: () => undefined, readValue: rejectValueReads }
        answer = await host.executeStep(session, { number, now, waited: 0, input }, owner, options)
        if ('output' in answer) text += answer.output
        if (answer.type === 'suspended') now += answer.wakeInMs ?? 0
      } while (answer.type === 'suspended')
      ended = describeEnd(answer)
      if ('error' in answer) text += `\n${answer.error}`
      if (answer.type === 'lost' || (stopsAtFailure && answer.type !== 'completed')) break
    }
    return { ended, text }
  } catch (thrown) {
    if (thrown === signal.reason) return { ended: timedOut, text: 'the cells did not end in time' }
    throw thrown
  } finally {
    await host.close(session)
  }
}

function rejectValueReads(): never {
  throw new Error('the comparison has no external values')
}

function describeEnd(answer: StepResult): string {
  if (answer.type === 'lost' || ('kind' in answer && answer.kind === 'timed_out')) return timedOut
  return `${answer.type} ${'kind' in answer ? answer.kind : ''}`.trim()
}
