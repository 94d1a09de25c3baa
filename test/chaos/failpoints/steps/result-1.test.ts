import { describeFailpointHits } from '../../support/failpoint-tests.js'

describeFailpointHits('step.result', 1, 14)
