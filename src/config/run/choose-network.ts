import type { Agent } from '../../agents/index.js'
import { hostedBackend } from '../../common/agent/hosted-code.js'
import { PtcError } from '../../common/errors.js'
import type { NetworkOption, NetworkRules } from '../../common/run/network.js'
import type { BackendChoice, SessionOwner } from '../../common/run/run-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import { networkRules } from '../options/network.js'

/** The part of a worker's configuration about the network of code. */
export interface NetworkConfiguration {
  /** The network of runs whose agent says nothing about it. Undefined: none. */
  readonly network: NetworkRules | undefined
  /** Names of backends whose sandboxes can't have a network. */
  readonly backendsWithoutNetwork: readonly string[]
}

/**
 * Returns the network of the code of a run: that of its agent, or as configured. Code in the session of another workflow
 * has the network of that session.
 *
 * @throws PtcError SANDBOX_NETWORK_UNSUPPORTED; RUN_INPUT_INVALID for an agent with a network of its own in the session
 *   of another workflow; CONFIG_INVALID
 */
export function chooseNetwork(
  configuration: NetworkConfiguration,
  { network: own }: Pick<RunConfigInput, 'network'>,
  agent: Agent | undefined,
  { backend, sessionOwner }: { readonly backend: BackendChoice; readonly sessionOwner: SessionOwner | undefined },
): NetworkRules | undefined {
  if (sessionOwner) {
    if (agent?.network === undefined) return undefined
    throw new PtcError(
      'RUN_INPUT_INVALID',
      `agent ${agent.name} has \`network\`, and its code runs in another session`,
      {
        hint: 'Code has the network of its session: remove `network` of the agent, or give it a sandbox of its own.',
      },
    )
  }
  if (own !== undefined) return networkOf(configuration, own, backend, 'the session')
  return networkOf(configuration, agent?.network, backend, `agent ${agent?.name ?? ''}`)
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
    hint: 'Choose another sandbox, such as docker, or an agent with `network: false`.',
  })
}
