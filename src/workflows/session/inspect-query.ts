import { defineQuery, setHandler } from '@temporalio/workflow'
import { sessionMessages } from '../../common/names.js'
import type { SessionStatus } from '../../common/session.js'
import type { CodeRuntime } from '../cell/code-runtime.js'
import type { Run } from '../run.js'

const inspect = defineQuery<SessionStatus | null>(sessionMessages.inspect)

/** From now on the run tells where its sandbox stands, to who lists sessions. */
export function registerInspectQuery({ counts }: Run, { session, usage }: CodeRuntime): void {
  const createdAt = Date.now()
  setHandler(inspect, () => {
    const { state, backend } = session.sandbox
    if (state === 'none') return null
    return {
      state: state === 'parked' ? 'parked' : usage.isBusy ? 'busy' : 'idle',
      backend,
      createdAt,
      lastUsedAt: usage.lastUsedAt,
      expiresAt: null,
      cells: counts.cells,
      toolCalls: counts.toolCalls,
    }
  })
}
