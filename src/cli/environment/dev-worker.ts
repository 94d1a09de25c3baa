/*
 * The process of the worker of `ptc dev` (worker-process.ts). It finds the server in the same way as every command of
 * the folder.
 */
import { type ErrorCode, messageOf, PtcError } from '../../common/errors.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import type { LogLevel } from '../../worker/index.js'
import { exitCodeOf } from '../process/exit-code.js'
import { Interrupted, listenForInterrupts } from '../process/interrupts.js'
import { hideWarnings } from '../process/hidden-warnings.js'
import { handleOutputErrors, printStatus } from '../process/stdio.js'
import type { CliWorker } from './cli-worker.js'

/** The argument of the process, as JSON. */
export interface DevWorkerOptions {
  readonly config?: string | undefined
  readonly sandbox?: BackendChoice | undefined
  readonly logLevel: LogLevel
}

/** A message to `ptc dev`. The only message in the other direction is `stop`. */
export type FromDevWorker =
  | ({ readonly type: 'ready' } & Pick<CliWorker, 'notice' | 'modelNotice' | 'closeTimeoutMs'>)
  | { readonly type: 'failed'; readonly code: ErrorCode; readonly message: string; readonly hint?: string }

async function runDevWorker({ config: file, sandbox, logLevel }: DevWorkerOptions): Promise<void> {
  using interrupts = listenForInterrupts()
  const stopped = new AbortController()
  process.once('message', () => stopped.abort(new Interrupted('stopped')))
  // `ptc dev` and its server have ended.
  process.once('disconnect', () => process.exit(1))
  const first = AbortSignal.any([interrupts.first, stopped.signal])

  const { startForegroundWorker, overrideBackend } = await import('./cli-worker.js')
  const { loadProject, withStream } = await import('./project.js')
  const { runUntilStopped } = await import('./run-until-stopped.js')
  const { resolveServer } = await import('./server.js')
  const project = await loadProject(file)
  const server = await resolveServer(project, { ifNoServer: 'fail', signal: first })
  const config = overrideBackend(withStream(project, server).config, sandbox)
  const worker = await startForegroundWorker({ config, server, warm: 1, logLevel, logFormat: 'text', signal: first })
  const { notice, modelNotice, closeTimeoutMs } = worker
  await send({ type: 'ready', notice, modelNotice, closeTimeoutMs })
  // `ptc dev` itself reports the interruption.
  const inform = (line: string): void => void (first.aborted || printStatus(line))
  await runUntilStopped(worker, server, { ...interrupts, first }, inform)
}

function send(message: FromDevWorker): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve()
    else process.send(message, undefined, undefined, () => resolve())
  })
}

handleOutputErrors()
hideWarnings()
try {
  await runDevWorker(JSON.parse(process.argv[2] ?? '{}') as DevWorkerOptions)
  process.exitCode = 0
} catch (thrown) {
  const code = PtcError.isInstance(thrown) ? thrown.code : 'INTERNAL'
  const hint = PtcError.isInstance(thrown) && thrown.hint !== undefined ? { hint: thrown.hint } : {}
  await send({ type: 'failed', code, message: messageOf(thrown), ...hint })
  process.exitCode = exitCodeOf(thrown)
}
process.exit()
