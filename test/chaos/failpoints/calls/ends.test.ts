import { describeFailpoints } from '../../support/failpoint-tests.js'

describeFailpoints(['tool.ends'])
