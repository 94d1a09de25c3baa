import {
  allHandlersFinished,
  CancellationScope,
  condition,
  currentUpdateInfo,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow'
import { sessionMessages } from '../../common/names.js'
import {
  type ExecuteResult,
  type ExecuteInput,
  type InterruptSignalInput,
  type SessionInput,
  type SessionResult,
  type SessionStatus,
  sessionSummary,
} from '../../common/session/session.js'
import { serveCells } from '../shared-session/served-cells.js'
import { recordSummary } from '../run/memo.js'
import { failWorkflowOnError, handleSignal } from '../temporal/failures.js'
import { type ExecutionRequest, NamedSession } from './named-session.js'

const execute = defineUpdate<ExecuteResult, [ExecuteInput]>(sessionMessages.execute)
const interrupt = defineSignal<[InterruptSignalInput]>(sessionMessages.interrupt)
const close = defineSignal(sessionMessages.close)
const inspect = defineQuery<SessionStatus>(sessionMessages.inspect)

/**
 * Workflow `session`: owns one named session, which outlives runs. Update `execute` runs code in it. The session ends
 * by signal `close`, or after some time without an execution. `named-session.ts` has the invariants.
 */
export async function session(input: SessionInput): Promise<SessionResult> {
  return failWorkflowOnError(async () => {
    const { startedByUpdateId } = input
    recordSummary(sessionSummary(input))
    const namedSession = new NamedSession(input)
    // The handlers are set before the first await, because the first update arrives with the start.
    const execution = (): ExecutionRequest => {
      const { id = '' } = currentUpdateInfo() ?? {}
      return { id, isNew: id === startedByUpdateId }
    }
    setHandler(execute, (input) => failWorkflowOnError(() => namedSession.execute(input, execution())), {
      validator: (input) => namedSession.validate(input),
    })
    serveCells({
      execute: (cell) => namedSession.executeServedCell(cell, cell.id === startedByUpdateId),
      interrupt: (id) => namedSession.interrupt({ updateId: id }),
    })
    handleSignal(interrupt, (input) => namedSession.interrupt(input))
    handleSignal(close, () => namedSession.close())
    setHandler(inspect, () => namedSession.status())
    try {
      return await namedSession.waitUntilEnded()
    } finally {
      namedSession.close()
      await CancellationScope.nonCancellable(() => condition(allHandlersFinished))
      await namedSession.closeRuntime()
      // Cells that arrived meanwhile were refused, and their runs must get this reply.
      if (!allHandlersFinished()) await CancellationScope.nonCancellable(() => condition(allHandlersFinished))
    }
  })
}
