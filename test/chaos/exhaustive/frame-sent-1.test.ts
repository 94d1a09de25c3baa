import { describePasses } from '../support/every-step.js'

describePasses('frame.sent', 1, 10)
