import { describeQueryStress } from '../support/query-stress.js'

describeQueryStress()
