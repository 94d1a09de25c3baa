import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, type LogLevel, type LogMetadata, SdkComponent } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import type { z } from 'zod'
import { toolCall } from '../activities/index.js'
import type { Caller } from '../common/calls/calls.js'
import { digestJson } from '../common/calls/call-identity.js'
import type { FollowedCall } from '../common/calls/call-activities.js'
import { defined } from '../common/defined.js'
import type { StoredFile } from '../common/files/files.js'
import type { Externalizable } from '../common/json/external-value.js'
import type { JsonObject } from '../common/json/json.js'
import { defaultLimits, type Limits } from '../common/run/limits.js'
import { Credentials } from '../tools/credentials/credentials.js'
import { readStoredFile } from '../files/index.js'
import { createRegistry } from '../tools/registry.js'
import type { ToolLog } from '../tools/tool-context.js'
import { sealTool, type Tool } from '../tools/tool.js'
import { LocalStore } from '../values/local/local-store.js'
import { Values } from '../values/values.js'

/** Options of one attempt of a call, for {@link runTool}. */
interface RunToolOptions {
  /** Default: `code_execution`, or `direct` for a tool that code may not call. */
  readonly caller?: Caller
  /** Number from 1. Default 1. Attempt 2 of a tool with effect `once` is refused, as in production. */
  readonly attempt?: number
  /** Default: derived from the tool's name and the input, so that it is the same in every attempt. */
  readonly idempotencyKey?: string
  /** The details that an earlier attempt passed to `heartbeat`. */
  readonly heartbeatDetails?: unknown
  /** Receives the details of each `heartbeat` call of the tool. */
  readonly onHeartbeat?: (details: unknown) => void
  /** The context of the run. Default: `{}`. */
  readonly context?: JsonObject
  /** Values of the credentials that the tool declares, by name. Default: none. */
  readonly credentials?: Readonly<Record<string, string>>
  /** The agent of the run. Default: none. */
  readonly agent?: string
  /** For a tool with `output: file()`: receives the file that the tool has returned, and its bytes. */
  readonly onFile?: (file: StoredFile, bytes: Uint8Array) => void
  /** Cancels the call when it is aborted. */
  readonly signal?: AbortSignal
  /** Default: the limits of a configuration that sets none. */
  readonly limits?: Partial<Pick<Limits, 'argumentBytes' | 'resultBytes' | 'tmpBytes'>>
  /** The tool's log. Default: warnings and errors to stderr. */
  readonly log?: ToolLog
}

/**
 * Runs one attempt of a tool call without a server, with the checks of production: caller, input, timeout, output and
 * sizes.
 *
 * A deferred tool gets a `completionToken`, which is the same in every attempt. No run waits for this call: a client
 * refuses to complete it.
 *
 * @returns the result in the form for its caller: plain JSON, after the transforms of the output schema; null for a
 *   deferred tool; the path in the sandbox for a tool that returns a file
 * @throws ApplicationFailure that Temporal would record. Its `type` is the error code (`TOOL_REFUSED` for a ToolError,
 *   `TOOL_FAILED` for any other error, `TOOL_INPUT_INVALID`, `TOOL_OUTPUT_INVALID`, `TOOL_TIMED_OUT` and others), and
 *   `nonRetryable` says whether Temporal would start another attempt. CancelledFailure when `signal` is aborted.
 */
export async function runTool<Input extends z.ZodObject, Output extends z.ZodType>(
  tool: Tool<Input, Output>,
  input: z.input<Input>,
  options: RunToolOptions = {},
): Promise<z.output<Output>> {
  const { name, timeoutMs, allowedCallers } = tool
  // A caller sends JSON: undefined members do not exist.
  const args = JSON.parse(JSON.stringify(input)) as JsonObject
  const {
    caller = allowedCallers.includes('code_execution') ? 'code_execution' : 'direct',
    attempt = 1,
    idempotencyKey = digestJson([name, args]),
    heartbeatDetails,
    signal = new AbortController().signal,
  } = options
  const limits = { ...defaultLimits, ...options.limits }
  const registry = createRegistry([options.onHeartbeat ? observeHeartbeats(tool, options.onHeartbeat) : tool])
  const environment = new MockActivityEnvironment(
    {
      activityId: idempotencyKey,
      activityType: name,
      attempt,
      startToCloseTimeoutMs: timeoutMs,
      ...(heartbeatDetails === undefined ? {} : { heartbeatDetails: { details: heartbeatDetails } }),
    },
    { logger: toolLogger(options.log ?? stderrLog) },
  )
  const cancel = (): void => environment.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  if (signal.aborted) cancel()
  const values = new InlineValues()
  try {
    const call = {
      tool: name,
      caller,
      position: { turn: 1, cell: caller === 'direct' ? 0 : 1, index: 1 },
      idempotencyKey,
      arguments: (await values.externalize(args, signal)) as JsonObject,
      limits,
      ...defined({ context: options.context, agent: options.agent }),
      inputDigest: tool.inputDigest,
      ...(tool.deferred && { deferred: { firstExecutionRunId: 'run-tool', signature: 'run-tool' } }),
      ...defined({ returnsFile: tool.returnsFile }),
    }
    const credentials = credentialsOf(options.credentials ?? {})
    const work = () => toolCall({ registry, values, limits, credentials })(call)
    const returned = await environment.run(work)
    // Without a follow-up, the activity returns only the value, and a file with its path.
    const { value, file } = tool.returnsFile
      ? (returned as FollowedCall)
      : { value: returned as Externalizable, file: undefined }
    if (file && options.onFile) options.onFile(file, await readAll(readStoredFile(values, file, signal)))
    // The output schema has parsed the result.
    return (await values.load(value, `the result of ${name}`, signal)) as z.output<Output>
  } finally {
    signal.removeEventListener('abort', cancel)
    await values.close()
  }
}

async function readAll(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const read: Uint8Array[] = []
  for await (const part of parts) read.push(part)
  return Buffer.concat(read)
}

function credentialsOf(values: Readonly<Record<string, string>>): Credentials {
  return new Credentials(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, () => value])))
}

/** Keeps values of any size inline. Only a value that has the form of a reference is stored, until `close`. */
class InlineValues extends Values {
  readonly #directory: string

  constructor() {
    const directory = join(tmpdir(), `ptc-run-tool-${randomUUID()}`)
    super({ store: new LocalStore(directory), inlineBytes: Number.MAX_SAFE_INTEGER })
    this.#directory = directory
  }

  override async close(): Promise<void> {
    await super.close()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

function observeHeartbeats<Input extends z.ZodObject, Output extends z.ZodType>(
  tool: Tool<Input, Output>,
  onHeartbeat: (details: unknown) => void,
): Tool<Input, Output> {
  return sealTool({
    ...tool,
    run: (input, context) => {
      const heartbeat = (details?: unknown): void => {
        onHeartbeat(details)
        context.heartbeat(details)
      }
      return tool.run(input, { ...context, heartbeat })
    },
  })
}

const stderrLog: ToolLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message, fields) => writeLog('WARN', message, fields),
  error: (message, fields) => writeLog('ERROR', message, fields),
}

/** Leaves out the log of the SDK's worker: the test gets the failure itself. */
function toolLogger(toolLog: ToolLog): Logger {
  const write = (level: keyof ToolLog) => (message: string, fields?: LogMetadata) => {
    if (fields?.['sdkComponent'] !== SdkComponent.worker) toolLog[level](message, fields)
  }
  const [debug, info, warn, error] = [write('debug'), write('info'), write('warn'), write('error')]
  const byLevel: Readonly<Record<LogLevel, typeof debug>> = {
    TRACE: debug,
    DEBUG: debug,
    INFO: info,
    WARN: warn,
    ERROR: error,
  }
  return { log: (level, message, fields) => byLevel[level](message, fields), trace: debug, debug, info, warn, error }
}

/** Writes a log entry to stderr: the message, and the stack of a tool's error or the message of an error. */
export function writeLog(level: string, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
  const details: unknown = fields['stack'] ?? fields['error'] ?? ''
  process.stderr.write(`[${level}] ${message} ${details instanceof Error ? details.message : String(details)}\n`)
}
