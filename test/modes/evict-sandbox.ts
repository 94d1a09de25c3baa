import { faults } from './faults.js'
import type { BackendFault } from './fault-injecting-backend.js'

/** The last suspension at which each session lost its sandbox. A rebuild repeats the earlier suspensions. */
const evicted = new Map<string, number>()

/** Destroys a sandbox when it suspends, before the engine receives the calls. */
export const evictSandbox: BackendFault = {
  async before(message, target) {
    if (message.type !== 'suspended') return
    const { id } = target
    const session = `${id.namespace}/${id.session}`
    if (message.step <= (evicted.get(session) ?? 0)) return
    evicted.set(session, message.step)
    faults.sandboxesDestroyed += 1
    await target.destroy()
  },
}
