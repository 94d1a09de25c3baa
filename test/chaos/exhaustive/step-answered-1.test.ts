import { describePasses } from '../support/every-step.js'

describePasses('step.answered', 1, 10)
