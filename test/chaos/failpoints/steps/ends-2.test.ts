import { describeFailpointHits, minimumHits } from '../../support/failpoint-tests.js'

describeFailpointHits('step.ends', 13, minimumHits['step.ends'])
