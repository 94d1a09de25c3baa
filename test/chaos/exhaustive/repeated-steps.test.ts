import { describeEveryStep } from '../support/every-step.js'

describeEveryStep(['step.repeated'])
