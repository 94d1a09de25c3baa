import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { DataConverter } from '@temporalio/common'
import { TestWorkflowEnvironment } from '@temporalio/testing'
import { createDataConverter, createPtcClient, type PtcClient, type StartOptions } from '../client/index.js'
import { DisposableStack } from '../common/async/disposable-stack.js'
import { defined } from '../common/defined.js'
import { PtcError } from '../common/errors.js'
import type { AgentInput, AgentResult, ProgramInput, ProgramResult } from '../common/run/runs.js'
import type { PtcConfig } from '../config/define-config.js'
import { parseConfig, type ResolvedConfig } from '../config/parse-config.js'
import { messageOf } from '../common/errors.js'
import { devServerSettings, findTemporalCli } from '../dev-server/temporal-cli.js'
import { installRuntime, type LogLevel, startWorker } from '../worker/index.js'
import type { Script } from './scripted-messages-api/script/script.js'
import { type ScriptedMessagesApi, startScriptedMessagesApi } from './scripted-messages-api/server.js'
import { writeLog } from './run-tool.js'

/** The Temporal server of a test environment. */
type ServerOption =
  /** Starts a dev server in memory. */
  | { readonly cliPath: string }
  /** Uses a running server, and leaves it running. */
  | { readonly address: string; readonly namespace?: string }

/** Options of {@link createTestEnvironment}. */
export interface TestEnvironmentOptions {
  /** Default: the tools of `config`. */
  readonly tools?: PtcConfig['tools']
  /**
   * A configuration, such as the default export of `ptc.config.ts`. The test environment replaces its `sandbox`,
   * `taskQueue` and `values.store`.
   */
  readonly config?: Partial<PtcConfig>
  /** The replies of the model. Required for agents; a program needs none. */
  readonly script?: Script
  /** Default: the embedded backend (`wasm`), which needs no Docker. */
  readonly sandbox?: PtcConfig['sandbox']
  /** Default: a dev server in memory, started with the Temporal CLI that `ptc` uses. */
  readonly server?: ServerOption
  /** Level of the log of Temporal and the tools on stderr. Default `WARN`. No effect when the process has a Runtime. */
  readonly logLevel?: LogLevel
  /** Receives a line about each slow step, such as the installation of a Temporal CLI. Default: ignored. */
  readonly onProgress?: (line: string) => void
}

/** A Temporal server, a worker with every role, and a scripted model. */
export interface TestEnvironment extends AsyncDisposable {
  /** Starts and follows runs and sessions. */
  readonly client: PtcClient
  /** The scripted Messages API. Its `requests` are those that the model received. */
  readonly api: ScriptedMessagesApi
  /** Temporal's own test environment: `client`, `nativeConnection`, `namespace`. */
  readonly temporal: TestWorkflowEnvironment
  /**
   * Runs an agent, and waits for its result.
   *
   * @throws PtcError RUN_INPUT_INVALID without a script; the error of the run
   */
  runAgent(input: string | AgentInput, options?: StartOptions): Promise<AgentResult>
  /**
   * Runs a program without a model, and waits for its result. Code that fails is a result, not an error.
   *
   * @throws PtcError RUN_INPUT_INVALID; the error of the run
   */
  runProgram(input: string | ProgramInput, options?: StartOptions): Promise<ProgramResult>
  /** Ends open runs, the worker, the sandboxes and the server, and removes all files. Idempotent. */
  close(): Promise<void>
}

/**
 * Starts everything that an agent needs: worker, scripted model and value store in this process, sandbox and Temporal
 * server as child processes.
 *
 * @throws PtcError CONFIG_INVALID, TEMPORAL_UNREACHABLE, SANDBOX_UNAVAILABLE and others of a worker
 */
export async function createTestEnvironment(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
  const { script, server, logLevel = 'WARN', onProgress = () => undefined } = options
  installRuntimeOnce(logLevel)
  const stack = new DisposableStack()
  try {
    const directory = await mkdtemp(join(tmpdir(), 'ptc-test-'))
    stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
    const config = resolveConfig(options, directory)
    const { taskQueue } = config
    const api = await startScriptedMessagesApi({ script: script ?? noScript })
    stack.defer(() => api.close())
    const dataConverter = await createDataConverter(storeIn(directory), { encryption: options.config?.encryption })
    const temporal = await startTemporal(server, dataConverter, onProgress)
    stack.defer(() => temporal.teardown())
    const { address, namespace = 'default' } = temporal
    const worker = await startWorker({
      config,
      server: { address, namespace, connectionOptions: { address } },
      hostId: taskQueue,
      modelApi: { baseURL: api.url, apiKey: 'scripted' },
      onProgress,
    })
    stack.defer(() => worker.shutdown())
    stack.defer(() => endRuns(temporal, taskQueue))
    const client = createPtcClient({
      client: temporal.client,
      taskQueue,
      ...defined({ stream: config.stream }),
    })
    let closed: Promise<void> | undefined
    const close = (): Promise<void> => (closed ??= stack[Symbol.asyncDispose]())
    return {
      client,
      api,
      temporal,
      async runAgent(input, startOptions) {
        if (script === undefined) {
          throw new PtcError('RUN_INPUT_INVALID', 'the test environment has no script, so the model can not reply', {
            hint: 'Pass `script` to createTestEnvironment.',
          })
        }
        const run = await client.startAgent(typeof input === 'string' ? { question: input } : input, startOptions)
        return run.result()
      },
      async runProgram(input, startOptions) {
        const run = await client.startProgram(typeof input === 'string' ? { source: input } : input, startOptions)
        return run.result()
      },
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (thrown) {
    await stack[Symbol.asyncDispose]()
    throw thrown
  }
}

/** A client may start an agent without a script: then it gets this reply, and never one of a real model. */
const noScript: Script = [{ reply: { content: [{ type: 'text', text: 'The test environment has no script.' }] } }]

const storeIn = (directory: string) => ({ kind: 'local', directory: join(directory, 'values') }) as const

function resolveConfig({ tools, config = {}, sandbox }: TestEnvironmentOptions, directory: string): ResolvedConfig {
  const resolved = parseConfig(
    {
      ...config,
      tools: tools ?? config.tools ?? [],
      // A pool of idle interpreters costs a test more than it saves.
      sandbox: sandbox ?? { backend: 'wasm', warm: 0 },
      values: { ...config.values, store: storeIn(directory) },
      taskQueue: `test-${randomUUID()}`,
    },
    'the configuration of the test environment',
  )
  // The scripted model replies in place of each provider.
  const providers = Object.keys(resolved.providers).map((name) => [name, { kind: 'anthropic' }] as const)
  return { ...resolved, providers: Object.fromEntries(providers) }
}

/** Installs the Runtime, of which a process has only one. Keeps that of the user or of an earlier test environment. */
function installRuntimeOnce(minimum: LogLevel): void {
  try {
    installRuntime(minimum, ({ level, message, meta }) => writeLog(level, message, meta))
  } catch (thrown) {
    if (!(thrown instanceof Error) || thrown.name !== 'IllegalStateError') throw thrown
  }
}

/** Milliseconds in which a cancelled run may remove its sandbox. */
const cancelMs = 30_000

/** Cancels the open runs and sessions, so that their sandboxes are removed; terminates those that do not end. */
async function endRuns({ client }: TestWorkflowEnvironment, taskQueue: string): Promise<void> {
  const query = `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`
  const open = []
  for await (const { workflowId } of client.workflow.list({ query })) open.push(client.workflow.getHandle(workflowId))
  await Promise.all(
    open.map(async (handle) => {
      const ended = handle.result().then(
        () => undefined,
        () => undefined,
      )
      await handle.cancel().catch(() => undefined)
      const abort = new AbortController()
      await Promise.race([ended, delay(cancelMs, undefined, { signal: abort.signal }).catch(() => undefined)])
      abort.abort()
      await handle.terminate('the test environment was closed').catch(() => undefined)
    }),
  )
}

/**
 * Starts a dev server with a Temporal CLI, or connects to a running server. `teardown()` of the result ends it.
 *
 * @param option default: the CLI that `ptc` uses; installs one when the machine has none
 * @throws PtcError TEMPORAL_UNREACHABLE
 */
async function startTemporal(
  option: ServerOption | undefined,
  dataConverter: DataConverter,
  onProgress: (line: string) => void,
): Promise<TestWorkflowEnvironment> {
  const client = { dataConverter }
  try {
    if (option !== undefined && 'address' in option)
      return await TestWorkflowEnvironment.createFromExistingServer({ ...option, client })
    const path = option?.cliPath ?? (await findCli(onProgress))
    return await TestWorkflowEnvironment.createLocal({
      client,
      server: {
        executable: { type: 'existing-path', path },
        log: { format: 'pretty', level: 'error' },
        extraArgs: [...devServerSettings],
      },
    })
  } catch (cause) {
    if (PtcError.isInstance(cause)) throw cause
    throw new PtcError('TEMPORAL_UNREACHABLE', `the test environment has no Temporal server: ${messageOf(cause)}`, {
      hint: 'Pass `server: { address }` of a running server, or `server: { cliPath }` of a Temporal CLI.',
      cause,
    })
  }
}

/** Long enough to build the CLI with Go for the first time. */
const findCliMs = 20 * 60_000

function findCli(onProgress: (line: string) => void): Promise<string> {
  return findTemporalCli({ environment: process.env, onProgress, signal: AbortSignal.timeout(findCliMs) })
}
