import { describeFailpoints } from '../support/failpoint-tests.js'

describeFailpoints(['value.written', 'value.published'])
