import { describeEveryStep } from '../support/every-step.js'

describeEveryStep(['plan.read', 'model.begins', 'model.replied', 'model.kept', 'journal.begins', 'journal.kept'])
