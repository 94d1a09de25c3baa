import { describeFailpointHits, minimumHits } from '../../support/failpoint-tests.js'

describeFailpointHits('frame.sent', 31, minimumHits['frame.sent'])
