import { describeFailpoints } from '../support/failpoint-tests.js'

describeFailpoints([
  'config.loaded',
  'model.begins',
  'model.replied',
  'turn.stored',
  'journal.begins',
  'journal.stored',
])
