import { describeFailpointHits } from '../../support/failpoint-tests.js'

describeFailpointHits('step.begins', 1, 15)
