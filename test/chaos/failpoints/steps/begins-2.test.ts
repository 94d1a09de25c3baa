import { describeFailpointHits, minimumHits } from '../../support/failpoint-tests.js'

describeFailpointHits('step.begins', 14, minimumHits['step.begins'])
