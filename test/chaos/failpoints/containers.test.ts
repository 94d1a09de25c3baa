import { describeFailpoints } from '../support/failpoint-tests.js'

describeFailpoints(['open.begins', 'container.created', 'container.started', 'open.ends', 'close.begins', 'close.ends'])
