import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { sessionMessages } from '../../common/names.js'
import type { SessionResult } from '../../common/sessions.js'
import { listRuns } from '../list-runs.js'
import { runError } from '../run-error.js'
import { runningSession, sessionOver } from './ending.js'
import { type ExecuteOptions, executeOnSession, type SessionExecution } from './execute.js'
import { interruptSession } from './interrupt.js'
import { sessionName } from './name.js'
import { inspectSession, type Located, type SessionInfo } from './session-info.js'

/** Sandboxes with a name, whose variables outlive a run. */
export interface Sessions {
  /**
   * Executes code once it is its turn; begins the session when there is none, and says so by `isNew`.
   *
   * @throws PtcError RUN_INPUT_INVALID; SESSION_NOT_FOUND, SESSION_EXPIRED only with `mustExist`; SESSION_CLOSED when it was
   * closed meanwhile; SESSION_FULL; TEMPORAL_UNREACHABLE; and what opening a sandbox throws
   */
  execute(name: string, source: string, options?: ExecuteOptions): Promise<SessionExecution>
  /**
   * Interrupts what is executed, as by Ctrl-C: whoever waits for it gets the outcome `stopped`, the session keeps its
   * variables. Nothing happens when nothing is executed. To stop an execution of your own, abort its `signal`.
   *
   * @throws PtcError SESSION_NOT_FOUND, SESSION_EXPIRED, SESSION_CLOSED, TEMPORAL_UNREACHABLE
   */
  interrupt(name: string): Promise<void>
  /**
   * The sessions of this task queue, the newest first. Visibility lags: one that has just begun may be missing for a second.
   *
   * @throws PtcError TEMPORAL_UNREACHABLE, also when no worker answers
   */
  list(): Promise<readonly SessionInfo[]>
  /** @throws PtcError SESSION_NOT_FOUND, SESSION_EXPIRED, SESSION_CLOSED, TEMPORAL_UNREACHABLE */
  show(name: string): Promise<SessionInfo>
  /**
   * Ends a session, and what is executed on it; gives back when its sandbox is removed.
   *
   * @throws PtcError SESSION_NOT_FOUND, SESSION_EXPIRED, SESSION_CLOSED, TEMPORAL_UNREACHABLE
   */
  close(name: string): Promise<SessionResult>
  /** Ends every session of this task queue that {@link list} can see; gives their names. */
  closeAll(): Promise<readonly string[]>
}

/** Sessions that are asked or closed at the same time. */
const atOnce = 20
const mostListed = 10_000

export function createSessions(client: Client, taskQueue: string): Sessions {
  const running = (): Promise<readonly Located[]> =>
    listRuns(client, taskQueue, { limit: mostListed, status: 'running', type: 'session' })
  return {
    execute: (name, source, options = {}) => executeOnSession(client, taskQueue, name, source, options),
    interrupt: async (name) => interruptSession(client, await runningSession(client, name), {}),
    list: async () => inTurns(await running(), (found) => inspectSession(client, found)),
    async show(name) {
      const info = await inspectSession(client, await runningSession(client, name))
      if (info === undefined) throw sessionOver(name, 'unknown')
      return info
    },
    close: async (name) => closeSession(client, await runningSession(client, name)),
    closeAll: async () =>
      inTurns(await running(), async (found) => {
        try {
          await closeSession(client, found)
          return sessionName(found.workflowId)
        } catch (thrown) {
          // Somebody was faster.
          if (PtcError.isInstance(thrown) && thrown.code === 'SESSION_CLOSED') return undefined
          throw thrown
        }
      }),
  }
}

async function closeSession({ workflow }: Client, { workflowId, runId }: Located): Promise<SessionResult> {
  const handle = workflow.getHandle(workflowId, runId)
  try {
    await handle.signal(sessionMessages.close)
    // Both ends are ours: the workflow of this type returns this type.
    return (await handle.result()) as SessionResult
  } catch (thrown) {
    const error = runError(thrown, workflowId)
    throw error.code === 'TEMPORAL_NOT_FOUND' ? sessionOver(sessionName(workflowId), 'unknown') : error
  }
}

/** What comes of each, without what came to nothing. */
async function inTurns<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result | undefined>,
): Promise<readonly Result[]> {
  const results: (Result | undefined)[] = []
  for (let start = 0; start < items.length; start += atOnce) {
    results.push(...(await Promise.all(items.slice(start, start + atOnce).map(work))))
  }
  return results.filter((result) => result !== undefined)
}
