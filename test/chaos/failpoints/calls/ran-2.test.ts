import { describeFailpointHits, minimumHits } from '../../support/failpoint-tests.js'

describeFailpointHits('tool.ran', 12, minimumHits['tool.ran'])
