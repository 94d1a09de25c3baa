import { expect, it } from 'vitest'
import { defaultLimits } from '../../common/run/limits.js'
import { helloMessage } from './hello-message.js'

it('the hello message contains the start of the session', () => {
  const startedAt = 1_700_000_000_000
  const message = helloMessage({ session: 's', seed: 7, startedAt, tools: [], limits: defaultLimits }, [2, 1, 1])
  expect(message).toMatchObject({ seed: 7, started_at: startedAt, fence: [2, 1, 1] })
})
