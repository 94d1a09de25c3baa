import { describePasses, passes } from '../support/every-step.js'

describePasses('step.answered', 11, passes['step.answered'])
