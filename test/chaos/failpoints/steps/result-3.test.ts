import { describeFailpointHits, minimumHits } from '../../support/failpoint-tests.js'

describeFailpointHits('step.result', 25, minimumHits['step.result'])
