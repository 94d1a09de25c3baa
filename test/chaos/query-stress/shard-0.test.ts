import { queryStressTests } from '../support/query-stress-tests.js'

queryStressTests()
