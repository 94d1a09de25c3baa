import { describePasses, passes } from '../support/every-step.js'

describePasses('frame.sent', 11, passes['frame.sent'])
