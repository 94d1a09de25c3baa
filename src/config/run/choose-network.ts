import type { Agent, Agents } from '../../agents/index.js'
import { hostedBackend } from '../../common/agent/hosted-code.js'
import { PtcError } from '../../common/errors.js'
import { canonicalJson } from '../../common/json/canonical-json.js'
import type { JsonObject } from '../../common/json/json.js'
import type { NetworkOption, NetworkRules, NetworkTarget } from '../../common/run/network.js'
import type { BackendChoice, SessionOwner } from '../../common/run/run-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import { credentialNamesOf, describeTarget, networkRules } from '../options/network.js'

/** The part of a worker's configuration about the network of code. */
export interface NetworkConfiguration {
  /** The network of runs whose agent says nothing about it. Undefined: none. */
  readonly network: NetworkRules | undefined
  /** Names of backends whose sandboxes can't have a network. */
  readonly backendsWithoutNetwork: readonly string[]
  readonly agents: Agents
}

/**
 * Returns the network of the code of a run: that of its client, or of its agent, or as configured. Code in the session of
 * another workflow has the network of that session.
 *
 * @throws PtcError SANDBOX_NETWORK_UNSUPPORTED; RUN_INPUT_INVALID for a network of its own in the session of another
 *   workflow, and for a client that uses a credential in a way of its own; CONFIG_INVALID
 */
export function chooseNetwork(
  configuration: NetworkConfiguration,
  { network: requested, isClone }: Pick<RunConfigInput, 'network' | 'isClone'>,
  agent: Agent | undefined,
  { backend, sessionOwner }: { readonly backend: BackendChoice; readonly sessionOwner: SessionOwner | undefined },
): NetworkRules | undefined {
  const ofAgent = `agent ${agent?.name ?? ''}`
  if (sessionOwner) {
    // A clone is in the session of a run with the same network.
    if (isClone || (requested ?? agent?.network) === undefined) return undefined
    throw new PtcError(
      'RUN_INPUT_INVALID',
      `${requested === undefined ? ofAgent : 'the run'} has \`network\`, and its code runs in another session`,
      { hint: 'Code has the network of its session: remove `network`, or give the run a sandbox of its own.' },
    )
  }
  if (requested === undefined) return networkOf(configuration, agent?.network, backend, ofAgent)
  const rules = networkOf(configuration, requested, backend, 'the run')
  if (rules) checkCredentialUse(rules.allow, configuration)
  return rules
}

/**
 * Returns the network of a sandbox.
 *
 * @param option undefined: as configured
 * @param where what has the option, for the message of an error
 * @throws PtcError SANDBOX_NETWORK_UNSUPPORTED, CONFIG_INVALID
 */
export function networkOf(
  { network: configured, backendsWithoutNetwork }: NetworkConfiguration,
  option: NetworkOption | false | undefined,
  backend: BackendChoice,
  where: string,
): NetworkRules | undefined {
  const rules = option === undefined ? configured : option === false ? undefined : networkRules(option, where)
  if (rules === undefined || rules.allow.length === 0) return undefined
  if (backend !== hostedBackend && !backendsWithoutNetwork.includes(backend)) return rules
  throw new PtcError('SANDBOX_NETWORK_UNSUPPORTED', `the sandbox ${backend} can't have a network`, {
    hint: 'Choose another sandbox, such as docker, or `network: false` for the agent or the run.',
  })
}

/**
 * A client that starts runs does not know the credentials of the workers, and could send them to a host of its own. So it
 * uses one as the configuration or one of its agents does.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
function checkCredentialUse(requested: readonly NetworkTarget[], { network, agents }: NetworkConfiguration): void {
  const used = requested.filter(usesCredential)
  if (used.length === 0) return
  const known = [...(network?.allow ?? []), ...agents.names.flatMap((name) => targetsOf(agents.require(name)))]
  const knownTexts = new Set(known.filter(usesCredential).map(textOf))
  const refused = used.find((each) => !knownTexts.has(textOf(each)))
  if (refused === undefined) return
  const names = credentialNamesOf(refused).join(', ')
  throw new PtcError(
    'RUN_INPUT_INVALID',
    `the network of the run uses credential ${names} for ${describeTarget(refused)}, and neither the configuration nor an agent has this entry`,
    { hint: 'Add the entry to `network` of the configuration or of an agent.' },
  )
}

/** The hosts of an agent, in all of its sandboxes. */
function targetsOf({ name, network, sessions }: Agent): readonly NetworkTarget[] {
  return [network, ...sessions.map((session) => session.network)].flatMap((option) =>
    option ? networkRules(option, `agent ${name}`).allow : [],
  )
}

function usesCredential(target: NetworkTarget): boolean {
  return credentialNamesOf(target).length > 0
}

function textOf(target: NetworkTarget): string {
  // It consists of JSON: a checked option.
  return canonicalJson(target as unknown as JsonObject)
}
