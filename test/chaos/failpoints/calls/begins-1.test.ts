import { describeFailpointHits } from '../../support/failpoint-tests.js'

describeFailpointHits('tool.begins', 1, 14)
