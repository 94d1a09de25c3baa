import { describeFailpoints } from '../../support/failpoint-tests.js'

describeFailpoints(['effects.begin', 'effects.stored'])
