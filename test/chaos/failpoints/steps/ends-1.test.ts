import { describeFailpointHits } from '../../support/failpoint-tests.js'

describeFailpointHits('step.ends', 1, 14)
