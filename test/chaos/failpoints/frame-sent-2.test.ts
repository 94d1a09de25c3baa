import { describeFailpointHits, minimumHits } from '../support/failpoint-tests.js'

describeFailpointHits('frame.sent', 11, minimumHits['frame.sent'])
