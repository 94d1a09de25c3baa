import { describeFailpointHits, minimumHits } from '../../support/failpoint-tests.js'

describeFailpointHits('tool.begins', 12, minimumHits['tool.begins'])
