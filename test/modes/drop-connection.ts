import type { RunnerMessage } from '../../src/sandbox/protocol/messages.js'
import type { SandboxId } from '../../src/sandbox/backend.js'
import { faults } from './faults.js'
import type { BackendFault } from './fault-injecting-backend.js'

/** Greetings that have cost a connection: each new one brings the same again, and nobody would ever get past it. */
const greeted = new Set<string>()

/** No connection lives longer than it takes to say one thing. */
export const dropConnection: BackendFault = {
  async after(messages, victim) {
    if (messages.every((message) => isRepeatedGreeting(message, victim.id))) return
    faults.connectionsDropped += 1
    await victim.disconnect()
  },
}

function isRepeatedGreeting(message: RunnerMessage, { namespace, session, epoch }: SandboxId): boolean {
  if (message.type !== 'ready') return false
  const greeting = `${namespace}/${session}/${epoch}/${message.step}`
  const isOld = greeted.has(greeting)
  greeted.add(greeting)
  return isOld
}
