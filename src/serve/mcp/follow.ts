import type { CallToolResult } from '@modelcontextprotocol/server'
import type { PtcClient, RunHandle, SessionExecution } from '../../client/index.js'
import type { ValueReader } from '../../client/run-tree/index.js'
import { withAbortListener } from '../../common/async/abort.js'
import { defined } from '../../common/defined.js'
import type { AgentResult, CallResult, ProgramResult } from '../../common/run/runs.js'
import { outputFolder } from '../../common/files/files.js'
import { withFiles, type WorkFiles } from './files.js'
import type { McpHost } from './host.js'
import { executionResult, runResult } from './results.js'
import type { Follow } from './wait-for-work.js'
import { formatWorkId, type WorkId } from './work-id.js'

/** How the results of work are returned. */
interface ResultOptions {
  readonly ptc: PtcClient
  readonly values: ValueReader
  /** Maximum characters of a text. */
  readonly limit: number
}

/** Executes code in a session. */
export function followCode(
  { ptc }: Pick<McpHost, 'ptc'>,
  session: string,
  { code, language }: { readonly code: string; readonly language?: string | undefined },
  limit: number,
): Follow {
  return async ({ onStarted, onChange, leaveSignal, cancelSignal }) => {
    let id = ''
    const execution = await ptc.sessions.execute(session, code, {
      onAccepted(accepted) {
        const work = { type: 'code', ...accepted } as const
        id = formatWorkId(work)
        onStarted(work)
      },
      onChange,
      leaveSignal,
      signal: cancelSignal,
      ...defined({ cellLanguage: language }),
    })
    return withFiles(executionResult(id, execution, limit), ptc, filesOf(execution))
  }
}

function filesOf({ workflowId, outcome: { files, lostFiles: lost } }: SessionExecution): WorkFiles {
  return { workflowId, files, lost }
}

/** Starts a run, and follows it. */
export function followNewRun(
  start: () => Promise<RunHandle<AgentResult | CallResult>>,
  options: ResultOptions,
): Follow {
  return async (follow) => {
    const handle = await start()
    follow.onStarted({ type: 'run', workflowId: handle.workflowId })
    return followRun(handle, options, follow)
  }
}

/**
 * Continues to wait for work.
 *
 * @param source the code, by which a client is told of the progress; undefined when it is unknown
 */
export function followWork({ ptc, values }: McpHost, id: WorkId, limit: number, source?: string): Follow {
  return async (follow) => {
    follow.onStarted(id)
    if (id.type === 'run') return followRun(ptc.handle(id.workflowId), { ptc, values, limit }, follow)
    const { onChange, leaveSignal, cancelSignal } = follow
    const { type: _, ...execution } = id
    const options = { onChange, leaveSignal, signal: cancelSignal, ...defined({ source }) }
    const ended = await ptc.sessions.result(execution, options)
    return withFiles(executionResult(formatWorkId(id), ended, limit), ptc, filesOf(ended))
  }
}

async function followRun(
  handle: RunHandle<AgentResult | CallResult | ProgramResult>,
  options: ResultOptions,
  { onChange, leaveSignal, cancelSignal }: Parameters<Follow>[0],
): Promise<CallToolResult> {
  // The watch reports a failure of this request.
  const cancel = (): void => void handle.cancel().catch(() => undefined)
  const tree = await withAbortListener(cancelSignal, cancel, () => handle.watch({ onChange, signal: leaveSignal }))
  const { workflowId } = handle
  const result = await runResult(formatWorkId({ type: 'run', workflowId }), await handle.result(), options)
  const files = tree.files?.filter(({ path }) => path.startsWith(`${outputFolder}/`))
  return withFiles(result, options.ptc, { workflowId, files })
}
