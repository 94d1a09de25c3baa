import { describeEveryStep } from '../support/every-step.js'

describeEveryStep([
  'open.begins',
  'container.created',
  'container.started',
  'open.ends',
  'step.repeated',
  'close.begins',
  'close.ends',
])
