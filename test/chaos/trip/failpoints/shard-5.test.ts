import { describeTripFailpoints } from '../../support/failpoint-tests.js'

describeTripFailpoints(5)
