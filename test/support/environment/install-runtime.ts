import { installRuntime } from '../../../src/worker/index.js'

// A process has one runtime. Test files that are not isolated share this module, so it is installed once.
installRuntime('ERROR', () => undefined)
