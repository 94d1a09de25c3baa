import { describeFailpointHits } from '../../support/failpoint-tests.js'

describeFailpointHits('step.result', 13, 24)
