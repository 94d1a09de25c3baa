import { expect, it } from 'vitest'
import { defaultLimits } from '../../common/limits.js'
import { helloMessage, type SessionFacts } from './hello.js'

const facts: SessionFacts = { session: 's', seed: 7, tools: [], limits: defaultLimits }

it('tells a runner when its session began, so that a rebuilt program reads the same clock', () => {
  expect(helloMessage({ ...facts, startedAt: 1_700_000_000_000 }, [2, 1, 1])).toMatchObject({
    seed: 7,
    started_at: 1_700_000_000_000,
    fence: [2, 1, 1],
  })
})

it('says nothing of it for a session that is from before programs were told', () => {
  expect(helloMessage(facts, [2, 1, 1])).not.toHaveProperty('started_at')
})
