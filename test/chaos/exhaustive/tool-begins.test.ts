import { describeEveryStep } from '../support/every-step.js'

describeEveryStep(['tool.begins'])
