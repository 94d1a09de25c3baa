import { describeRandomRuns } from '../support/random-runs.js'

describeRandomRuns(2)
