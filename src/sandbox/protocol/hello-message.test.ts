import { expect, it } from 'vitest'
import { defaultLimits } from '../../common/limits.js'
import { helloMessage, type SessionInfo } from './hello-message.js'

const startedAt = 1_700_000_000_000
const sessionInfo: SessionInfo = { session: 's', seed: 7, startedAt, tools: [], limits: defaultLimits }

it('contains the start of the session', () => {
  expect(helloMessage(sessionInfo, [2, 1, 1])).toMatchObject({
    seed: 7,
    started_at: startedAt,
    fence: [2, 1, 1],
  })
})
