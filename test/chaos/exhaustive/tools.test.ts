import { describeEveryStep } from '../support/every-step.js'

describeEveryStep(['tool.begins', 'tool.ran', 'tool.ends'])
