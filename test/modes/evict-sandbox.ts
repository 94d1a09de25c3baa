import { faults } from './faults.js'
import type { BackendFault } from './fault-injecting-backend.js'

/** The last suspension after which each session lost its sandbox: a rebuild comes by the earlier ones again. */
const evicted = new Map<string, number>()

/** A sandbox that stops for a tool is gone before the tool has begun; whatever comes next is a rebuild. */
export const evictSandbox: BackendFault = {
  async before(message, victim) {
    if (message.type !== 'suspended') return
    const { id } = victim
    const session = `${id.namespace}/${id.session}`
    if (message.step <= (evicted.get(session) ?? 0)) return
    evicted.set(session, message.step)
    faults.sandboxesDestroyed += 1
    await victim.destroy()
  },
}
