import { describeEveryStep } from '../support/every-step.js'

describeEveryStep(['value.written', 'value.published'])
