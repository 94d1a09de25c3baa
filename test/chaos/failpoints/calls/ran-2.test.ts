import { describeFailpointHits, minimumHits } from '../../support/failpoint-tests.js'

describeFailpointHits('tool.ran', 15, minimumHits['tool.ran'])
