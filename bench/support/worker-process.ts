import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { bareQueue, type Stack } from './stack.js'

/** Path of the built `ptc`. */
export const ptc = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** Configuration of the workers that have their own processes. */
export const processConfig = fileURLToPath(new URL('../process.config.ts', import.meta.url))

const bareWorker = fileURLToPath(new URL('bare-worker.mjs', import.meta.url))

const startMs = 60_000

/** Starts `ptc worker`, with the roles that programs need by default. Its tools use the tool service at `toolUrl`. */
export function startPtcWorker(
  stack: Stack,
  config = processConfig,
  toolUrl = '',
  roles = 'workflow,tools,sandbox',
  environment: NodeJS.ProcessEnv = {},
): WorkerProcess {
  const options = ['--config', config, '--log-level', 'ERROR', '--roles', roles]
  return new WorkerProcess(stack, [ptc, 'worker', ...options], { BENCH_URL: toolUrl, ...environment })
}

/** Starts a worker with the bare workflows and their activities, on the task queue {@link bareQueue}. */
export function startBareWorker(stack: Stack, toolUrl: string): WorkerProcess {
  const { address, namespace } = stack.server
  return new WorkerProcess(stack, [bareWorker, address, namespace, bareQueue], { BENCH_URL: toolUrl })
}

/** The environment of a process that uses the Temporal server of the benchmark. */
export function processEnvironment({ server, valuesDirectory }: Stack): NodeJS.ProcessEnv {
  const { address, namespace } = server
  return {
    ...process.env,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    ANTHROPIC_API_KEY: 'not-used',
    PTC_HOST_ID: 'bench',
    BENCH_VALUES: valuesDirectory,
  }
}

/** A process with Temporal workers. */
export class WorkerProcess {
  readonly pid: number
  readonly #stack: Stack
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown>
  #log = ''

  /** @param argv arguments of Node */
  constructor(stack: Stack, argv: readonly string[], environment: NodeJS.ProcessEnv = {}) {
    this.#stack = stack
    this.#child = spawn(process.execPath, argv, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...processEnvironment(stack), ...environment },
    })
    this.#exit = once(this.#child, 'exit')
    this.#child.stderr?.on('data', (text) => (this.#log += String(text)))
    if (this.#child.pid === undefined) throw new Error('the worker process could not be started')
    this.pid = this.#child.pid
  }

  /**
   * Waits until `ptc worker` has printed that it polls its task queues.
   *
   * @throws Error when it ends before
   */
  async waitUntilReady(): Promise<void> {
    while (!this.#log.includes('worker ready')) {
      const output = this.#child.stderr ? once(this.#child.stderr, 'data') : this.#exit
      await Promise.race([output, this.#exit])
      this.#throwIfEnded()
    }
  }

  /**
   * Waits until the server reports that the process polls for workflows.
   *
   * @throws Error when it ends before, and after a minute
   */
  async waitUntilPolling(taskQueue: string): Promise<void> {
    for (const deadline = performance.now() + startMs; !(await this.#polls(taskQueue)); await pause(5)) {
      this.#throwIfEnded()
      if (performance.now() > deadline) throw new Error(`the worker does not poll ${taskQueue} after a minute`)
    }
  }

  /** Sends a signal and waits for the end. Idempotent. */
  async kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#child.kill(signal)
    await this.#exit
  }

  #throwIfEnded(): void {
    const { exitCode, signalCode } = this.#child
    if (exitCode === null && signalCode === null) return
    throw new Error(`the worker ended (${signalCode ?? `exit code ${exitCode}`}):\n${this.#log}`)
  }

  /** Whether the process polls the workflow task queue, which is the API's default type. */
  async #polls(name: string): Promise<boolean> {
    const { client, server } = this.#stack
    const request = { namespace: server.namespace, taskQueue: { name } }
    const { pollers } = await client.workflowService.describeTaskQueue(request)
    return (pollers ?? []).some(({ identity }) => identity?.startsWith(`${this.pid}@`))
  }
}
