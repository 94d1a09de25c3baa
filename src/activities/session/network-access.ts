import { defined } from '../../common/defined.js'
import type { NetworkRules } from '../../common/run/network.js'
import type { ExecuteStepInput } from '../../common/session/steps.js'
import type { NetworkAccess } from '../../sandbox/network/access.js'
import type { Credentials } from '../../tools/credentials/credentials.js'
import { credentialNamesIn, withCredentials } from '../../tools/sources/credential-references.js'
import type { Values } from '../../values/values.js'
import { type EventOrigin, type EventSinks, Observer } from '../observe.js'

/** The parts of a worker that give code a network. */
export interface NetworkParts extends EventSinks {
  readonly values: Values
  readonly credentials: Credentials
  readonly namespace: string
}

/** The name under which a credential of the network is asked for, in place of the name of a tool. */
const networkReader = 'network'

/**
 * Returns what the code of a step may do with the network; undefined when the run has none. It stays in force until the
 * next step: code may go on between two steps.
 */
export async function networkAccess(
  { audit, stream, values, credentials, namespace }: NetworkParts,
  { network, session: { id, epoch }, step, localCalls }: ExecuteStepInput,
  origin: EventOrigin,
): Promise<NetworkAccess | undefined> {
  if (network === undefined) return undefined
  const { workflowId, runId, attempt, signal } = origin
  // The run has recorded them from a checked option.
  const rules = (await values.load(network.rules, 'the network of the run', signal)) as unknown as NetworkRules
  const request = {
    tool: networkReader,
    run: { namespace, workflowId, runId, agent: network.agent },
    context: network.context ?? {},
  }
  // A rebuild without a new step repeats the steps before it.
  const number = step?.number ?? 0
  const cell = localCalls?.cell ?? (step?.input.type === 'cell' ? step.input.cell : undefined)
  const fields = defined({ turn: localCalls?.turn, cell })
  const ofStep = () => ({ session: id, epoch, step: number })
  const observers = new Map<number, Observer>()

  function observerOf(requestNumber: number): Observer {
    // Another attempt at the step sends other requests: it repeats none of these.
    const position = `${number}/${attempt}/${requestNumber}`
    const unit = { unit: `request/${id}/${position}`, epoch, id: `${id}/${epoch}/${position}` }
    return observers.get(requestNumber) ?? new Observer({ audit, stream }, origin, unit)
  }

  return {
    rules,
    async fillHeaders(headers, ofRequest) {
      const { values: secrets } = await credentials.resolve(
        credentialNamesIn(Object.values(headers)),
        request,
        1,
        ofRequest,
      )
      return withCredentials(headers, secrets)
    },
    observe(requestNumber, event) {
      const observer = observerOf(requestNumber)
      // The start and the end of a request are of one observer, which numbers them.
      if (event.type === 'request.started') observers.set(requestNumber, observer)
      else observers.delete(requestNumber)
      return observer.publish({ request: requestNumber, ...fields, ...event, audit: ofStep })
    },
  }
}
