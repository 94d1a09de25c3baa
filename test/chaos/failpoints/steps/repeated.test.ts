import { describeFailpoints } from '../../support/failpoint-tests.js'

describeFailpoints(['step.repeated'])
