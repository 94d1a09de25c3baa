import { describeFailpointHits, minimumHits } from '../../support/failpoint-tests.js'

describeFailpointHits('tool.begins', 15, minimumHits['tool.begins'])
