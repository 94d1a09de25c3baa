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
import { sessionMessages } from '../common/names.js'
import type {
  Executed,
  ExecuteInput,
  InterruptSignal,
  SessionInput,
  SessionResult,
  SessionStatus,
} from '../common/sessions.js'
import { describeInMemo } from './memo.js'
import { neverHang } from './never-hang.js'
import { type Execution, OwnedSession } from './owned-session.js'

const execute = defineUpdate<Executed, [ExecuteInput]>(sessionMessages.execute)
const interrupt = defineSignal<[InterruptSignal]>(sessionMessages.interrupt)
const close = defineSignal(sessionMessages.close)
const inspect = defineQuery<SessionStatus>(sessionMessages.inspect)

/**
 * Workflow `session`: owns one named sandbox that outlives a run. Code comes by update `execute`, one after the other; it ends when
 * told to, or when nothing was executed for too long.
 */
export async function session({ name, openedBy, ...options }: SessionInput): Promise<SessionResult> {
  return neverHang(async () => {
    describeInMemo(`session ${name}`)
    const owned = new OwnedSession(name, options)
    // Before anything is waited for: the first update comes with the start.
    const execution = (): Execution => {
      const { id = '' } = currentUpdateInfo() ?? {}
      return { id, isNew: id === openedBy }
    }
    setHandler(execute, (input) => neverHang(() => owned.execute(input, execution())), {
      validator: (input) => owned.check(input),
    })
    setHandler(interrupt, (which) => owned.interrupt(which))
    setHandler(close, () => owned.close())
    setHandler(inspect, () => owned.status())
    try {
      return await owned.untilOver()
    } finally {
      owned.close()
      await CancellationScope.nonCancellable(() => condition(allHandlersFinished))
      await owned.removeSandbox()
    }
  })
}
