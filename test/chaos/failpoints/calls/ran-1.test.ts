import { describeFailpointHits } from '../../support/failpoint-tests.js'

describeFailpointHits('tool.ran', 1, 14)
