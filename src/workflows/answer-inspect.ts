import { defineQuery, setHandler } from '@temporalio/workflow'
import { sessionMessages } from '../common/names.js'
import type { SessionStatus } from '../common/sessions.js'
import type { Notebook } from './notebook.js'
import type { Run } from './run.js'

const inspect = defineQuery<SessionStatus | null>(sessionMessages.inspect)

/** From now on the run tells where its sandbox stands, to who lists sessions. */
export function answerInspect({ counts }: Run, { session, use }: Notebook): void {
  const createdAt = Date.now()
  setHandler(inspect, () => {
    const { state, backend } = session.sandbox
    if (state === 'none') return null
    return {
      state: state === 'parked' ? 'parked' : use.isBusy ? 'busy' : 'idle',
      backend,
      createdAt,
      lastUsedAt: use.lastAt,
      expiresAt: null,
      cells: counts.cells,
      toolCalls: counts.toolCalls,
    }
  })
}
