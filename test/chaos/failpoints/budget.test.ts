import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../support/chaos-run.js'
import { noFaults } from '../support/fault-plan.js'
import { calls } from '../support/scenarios/calls.js'

describeDocker('a run that its budget pauses', () => {
  it('a run survives kill -9 while its budget pauses it', () =>
    expectSurvives({ ...noFaults, killsWorkerDuring: 'pause' }))

  it('a conversation survives kill -9 while its budget pauses it', () =>
    expectSurvives({ ...noFaults, killsWorkerDuring: 'pause', scenario: calls({ isConversation: true }) }))
})
