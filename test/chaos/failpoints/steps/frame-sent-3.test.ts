import { describeFailpointHits, minimumHits } from '../../support/failpoint-tests.js'

describeFailpointHits('frame.sent', 27, minimumHits['frame.sent'])
