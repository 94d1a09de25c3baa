import type { Client } from '@temporalio/client'
import { type ErrorCode, PtcError } from '../../common/errors.js'
import { sessionMessages } from '../../common/names.js'
import type { SessionResult } from '../../common/sessions.js'
import { checkKeys } from '../check-input.js'
import { listRuns } from '../list-runs.js'
import { whileServed } from '../missing-worker.js'
import { runError } from '../run-error.js'
import { overSoon } from './ending.js'
import { type ExecuteOptions, executeOnSession, type SessionExecution } from './execute.js'
import { interruptSession } from './interrupt.js'
import { type Located, sessionName } from './name.js'
import { findNamed, findOwner } from './owning-run.js'
import { inspectSession, type LocatedOwner, type SessionInfo, type SessionOwnerType } from './session-info.js'

/** Sandboxes with a name, whose variables outlive a run. Each task queue has its own names. */
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
   * @throws PtcError SESSION_NOT_FOUND, SESSION_EXPIRED, SESSION_CLOSED, TEMPORAL_UNREACHABLE; SESSION_OWNED for that of a run
   */
  interrupt(name: string): Promise<void>
  /**
   * The sessions of this task queue, the newest first, those of runs in flight included. Visibility lags: one that has just
   * begun may be missing for a second.
   *
   * @throws PtcError RUN_INPUT_INVALID; WORKER_MISSING when no worker answers for them; TEMPORAL_UNREACHABLE
   */
  list(options?: ListSessionsOptions): Promise<readonly SessionInfo[]>
  /**
   * One by its name; the sandbox of a run in flight by the id of that.
   *
   * @throws PtcError SESSION_NOT_FOUND, SESSION_EXPIRED, SESSION_CLOSED, WORKER_MISSING, TEMPORAL_UNREACHABLE
   */
  show(name: string): Promise<SessionInfo>
  /**
   * Ends a session, and what is executed on it; gives back when its sandbox is removed.
   *
   * @throws PtcError SESSION_NOT_FOUND, SESSION_EXPIRED, SESSION_CLOSED, TEMPORAL_UNREACHABLE; SESSION_OWNED for that
   * of a run; WORKER_MISSING when no worker takes its tasks: it ends when one does
   */
  close(name: string): Promise<SessionResult>
  /** Ends every named session of this task queue that {@link list} can see; gives their names. Runs go on. */
  closeAll(): Promise<readonly string[]>
}

export interface ListSessionsOptions {
  /** Of so many runs in flight of each kind, the newest ones, the sandboxes are asked for. Default 100; 0: of none. */
  readonly runs?: number
}

/** Sessions that are asked or closed at the same time. */
const atOnce = 20
const mostListed = 10_000

export function createSessions(client: Client, taskQueue: string): Sessions {
  const running = async (type: SessionOwnerType, limit: number): Promise<readonly LocatedOwner[]> => {
    const found = limit === 0 ? [] : await listRuns(client, taskQueue, { limit, status: 'running', type })
    return found.map(({ workflowId, runId }) => ({ type, workflowId, runId }))
  }
  return {
    execute: (name, source, options = {}) => executeOnSession(client, taskQueue, name, source, options),
    interrupt: async (name) => interruptSession(client, await findNamed(client, taskQueue, name), {}),
    async list(options: ListSessionsOptions = {}) {
      checkKeys('the options', options, ['runs'] satisfies (keyof ListSessionsOptions)[])
      const { runs = 100 } = options
      const owners = await Promise.all([
        running('session', mostListed),
        running('agent', runs),
        running('program', runs),
      ])
      const found = await inTurns(owners.flat(), (owner) => inspectSession(client, owner))
      return found.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
    },
    async show(name) {
      const owner = await findOwner(client, taskQueue, name)
      const info = await inspectSession(client, owner)
      if (info !== undefined) return info
      if (owner.type === 'session') throw await overSoon(client, owner)
      throw new PtcError('SESSION_NOT_FOUND', `run ${name} has no sandbox at the moment`)
    },
    close: async (name) => closeSession(client, await findNamed(client, taskQueue, name)),
    closeAll: async () =>
      inTurns(await running('session', mostListed), async (found) => {
        try {
          await closeSession(client, found)
          return sessionName(found.workflowId)
        } catch (thrown) {
          // Somebody was faster, or its time was over.
          if (PtcError.isInstance(thrown) && overCodes.includes(thrown.code)) return undefined
          throw thrown
        }
      }),
  }
}

const overCodes: readonly ErrorCode[] = ['SESSION_CLOSED', 'SESSION_EXPIRED']

async function closeSession(client: Client, session: Located): Promise<SessionResult> {
  const { workflowId, runId } = session
  const handle = client.workflow.getHandle(workflowId, runId)
  try {
    await handle.signal(sessionMessages.close)
    // Both ends are ours: the workflow of this type returns this type.
    const told = { what: `session ${sessionName(workflowId)} is to close`, isQuery: false }
    return (await whileServed(client, session, told, () => handle.result())) as SessionResult
  } catch (thrown) {
    const error = runError(thrown, workflowId)
    throw error.code === 'TEMPORAL_NOT_FOUND' ? await overSoon(client, session) : error
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
