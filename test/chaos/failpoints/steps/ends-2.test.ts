import { describeFailpointHits, minimumHits } from '../../support/failpoint-tests.js'

describeFailpointHits('step.ends', 15, minimumHits['step.ends'])
