import { describeFailpointHits } from '../../support/failpoint-tests.js'

describeFailpointHits('step.result', 15, 28)
