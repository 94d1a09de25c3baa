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
import type {
  ExecuteResult,
  ExecuteInput,
  InterruptSignalInput,
  SessionInput,
  SessionResult,
  SessionStatus,
} from '../../common/session.js'
import { recordSummary } from '../temporal/memo.js'
import { failWorkflowOnError } from '../temporal/fail-workflow.js'
import { type Execution, NamedSession } from './named-session.js'

const execute = defineUpdate<ExecuteResult, [ExecuteInput]>(sessionMessages.execute)
const interrupt = defineSignal<[InterruptSignalInput]>(sessionMessages.interrupt)
const close = defineSignal(sessionMessages.close)
const inspect = defineQuery<SessionStatus>(sessionMessages.inspect)

/**
 * Workflow `session`: owns one named sandbox that outlives a run. Code comes by update `execute`, one after the other; it ends when
 * told to, or when nothing was executed for too long.
 */
export async function session({ name, startedByUpdateId, ...options }: SessionInput): Promise<SessionResult> {
  return failWorkflowOnError(async () => {
    recordSummary(`session ${name}`)
    const owned = new NamedSession(name, options)
    // Before anything is waited for: the first update comes with the start.
    const execution = (): Execution => {
      const { id = '' } = currentUpdateInfo() ?? {}
      return { id, isNew: id === startedByUpdateId }
    }
    setHandler(execute, (input) => failWorkflowOnError(() => owned.execute(input, execution())), {
      validator: (input) => owned.validate(input),
    })
    setHandler(interrupt, (which) => owned.interrupt(which))
    setHandler(close, () => owned.close())
    setHandler(inspect, () => owned.status())
    try {
      return await owned.waitUntilEnded()
    } finally {
      owned.close()
      await CancellationScope.nonCancellable(() => condition(allHandlersFinished))
      await owned.closeRuntime()
    }
  })
}
