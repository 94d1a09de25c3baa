import { describeEveryStep } from '../support/every-step.js'

describeEveryStep(['open.begins', 'container.created', 'container.started', 'open.ends', 'close.begins', 'close.ends'])
