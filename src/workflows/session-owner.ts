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
import type { Executed, ExecuteInput, SessionInput, SessionResult, SessionStatus } from '../common/sessions.js'
import { neverHang } from './never-hang.js'
import { OwnedSession } from './owned-session.js'

const execute = defineUpdate<Executed, [ExecuteInput]>(sessionMessages.execute)
const close = defineSignal(sessionMessages.close)
const inspect = defineQuery<SessionStatus>(sessionMessages.inspect)

/**
 * Workflow `session`: owns one named sandbox that outlives a run. Code comes by update `execute`, one after the other; it ends when
 * told to, or when nothing was executed for too long.
 */
export async function session({ name, openedBy, ...options }: SessionInput): Promise<SessionResult> {
  return neverHang(async () => {
    const owned = new OwnedSession(name, options)
    // Before anything is waited for: the first update comes with the start.
    setHandler(execute, (input) => neverHang(() => owned.execute(input, currentUpdateInfo()?.id === openedBy)), {
      validator: (input) => owned.check(input),
    })
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
