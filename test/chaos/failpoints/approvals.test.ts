import { describeFailpoints } from '../support/failpoint-tests.js'

describeFailpoints(['approval.requested'])
