import { describeRandomFaults } from '../support/random-fault-tests.js'

describeRandomFaults(2)
