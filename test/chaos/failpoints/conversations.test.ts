import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../support/chaos-run.js'
import { crashAt, noFaults } from '../support/fault-plan.js'
import { calls } from '../support/scenarios/calls.js'

describeDocker('a conversation', () => {
  it('a conversation answers both messages without faults', () =>
    expectSurvives({ ...noFaults, scenario: calls({ isConversation: true }) }))

  it.each([
    ['config.loaded', 1],
    ['model.begins', 1],
    ['model.replied', 5],
    ['turn.stored', 4],
    ['tool.ran', 12],
    ['step.result', 20],
    ['journal.stored', 1],
    ['approval.requested', 1],
    ['close.begins', 1],
  ] as const)('a conversation survives kill -9 at %s, hit %i', (point, hit) =>
    expectSurvives({ ...crashAt(point, hit), scenario: calls({ isConversation: true }) }),
  )
})
