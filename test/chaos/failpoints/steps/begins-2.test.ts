import { describeFailpointHits, minimumHits } from '../../support/failpoint-tests.js'

describeFailpointHits('step.begins', 16, minimumHits['step.begins'])
