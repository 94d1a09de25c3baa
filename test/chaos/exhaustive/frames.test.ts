import { describeEveryStep } from '../support/every-step.js'

describeEveryStep(['frame.sent', 'step.answered'])
