import { describeEveryStep } from '../support/every-step.js'

describeEveryStep(['advance.ends'])
