import { describeFailpointHits } from '../../support/failpoint-tests.js'

describeFailpointHits('frame.sent', 1, 15)
