import type { RunnerMessage } from '../../src/sandbox/protocol/messages.js'
import type { SandboxId } from '../../src/sandbox/backend.js'
import { faults } from './faults.js'
import type { BackendFault } from './fault-injecting-backend.js'

/** `ready` messages that broke a connection. The next connection repeats them and must not break for them again. */
const seen = new Set<string>()

/** Breaks a connection after each delivery of messages. */
export const dropConnection: BackendFault = {
  async after(messages, target) {
    if (messages.every((message) => isRepeatedReady(message, target.id))) return
    faults.connectionsDropped += 1
    await target.disconnect()
  },
}

function isRepeatedReady(message: RunnerMessage, { namespace, session, epoch }: SandboxId): boolean {
  if (message.type !== 'ready') return false
  const key = `${namespace}/${session}/${epoch}/${message.step}`
  const isRepeated = seen.has(key)
  seen.add(key)
  return isRepeated
}
