import { describeFailpointHits, minimumHits } from '../support/failpoint-tests.js'

describeFailpointHits('step.result', 11, minimumHits['step.result'])
