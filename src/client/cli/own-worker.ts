import { messageOf, PtcError } from '../../common/errors.js'
import type { BackendChoice } from '../../common/plan.js'
import { installRuntime, startWorker, type WorkerOptions } from '../../worker/index.js'
import { sayStep } from './terminal.js'
import { fileLog } from './worker-log.js'

/** A worker that lives as long as a command. */
export interface OwnWorker {
  /** What the user should know of the sandbox. */
  readonly notice: string | undefined
  /** Settles when the worker ends by itself; otherwise never. */
  readonly lost: Promise<PtcError>
  /** Idempotent. */
  close(): Promise<void>
}

export interface OwnWorkerOptions extends Pick<WorkerOptions, 'config' | 'server'> {
  /** Instead of what the configuration says. */
  readonly sandbox: BackendChoice | undefined
  readonly logFile: string
}

/** A worker with every role, for the time of one command; its log goes to a file. */
export async function startOwnWorker({ config, server, sandbox, logFile }: OwnWorkerOptions): Promise<OwnWorker> {
  installRuntime('INFO', fileLog(logFile))
  const own = { config: withSandbox(config, sandbox), server, warm: 1, stallLog: logFile, onProgress: sayStep }
  return runWorker(own)
}

/** @throws PtcError, as startWorker does */
export async function runWorker(options: WorkerOptions): Promise<OwnWorker> {
  const worker = await startWorker(options)
  let closing = false
  const lost = new Promise<PtcError>((settle) => {
    worker.ended.then(
      () => closing || settle(new PtcError('INTERNAL', 'the worker ended by itself')),
      (cause: unknown) =>
        closing || settle(new PtcError('INTERNAL', `the worker ended: ${messageOf(cause)}`, { cause })),
    )
  })
  return {
    notice: worker.sandboxNotice,
    lost,
    close() {
      closing = true
      return worker.shutdown()
    },
  }
}

/** The configuration with another sandbox: a host then prepares that one, and nothing else. */
export function withSandbox<Config extends WorkerOptions['config']>(
  config: Config,
  backend: BackendChoice | undefined,
): Config {
  if (backend === undefined) return config
  return { ...config, sandbox: { ...config.sandbox, backend }, plan: { ...config.plan, backend } }
}
