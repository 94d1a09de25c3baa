import { expect, it } from 'vitest'
import { defined } from '../../common/defined.js'
import { createAgents, defineAgent } from '../../agents/index.js'
import type { NetworkOption } from '../../common/run/network.js'
import type { SessionOwner } from '../../common/run/run-config.js'
import { createRegistry } from '../../tools/registry.js'
import { networkOption } from '../options/network.js'
import { chooseNetwork } from './choose-network.js'

const configured = networkOption.parse({ allow: ['configured.test'] })

interface Chosen {
  readonly network?: NetworkOption | false
  readonly backend?: string
  readonly sessionOwner?: SessionOwner
  readonly configured?: typeof configured | undefined
  /** By the client of the run. */
  readonly requested?: NetworkOption | false
  readonly isClone?: true
}

function hostsOf({
  network,
  backend = 'docker',
  sessionOwner,
  requested,
  isClone,
  ...configuration
}: Chosen): readonly string[] | undefined {
  const agent = network === undefined ? undefined : defineAgent({ name: 'a', instructions: 'Test.', network })
  const rules = chooseNetwork(
    {
      network: 'configured' in configuration ? configuration.configured : configured,
      backendsWithoutNetwork: ['wasm', 'mine'],
      agents: createAgents(agent ? [agent] : [], createRegistry([])),
    },
    defined({ network: requested, isClone }),
    agent,
    { backend, sessionOwner },
  )
  return rules?.allow.map(({ host }) => host)
}

it('the network of an agent replaces that of the configuration, and may be none', () => {
  expect(hostsOf({})).toEqual(['configured.test'])
  expect(hostsOf({ network: { allow: ['own.test'] } })).toEqual(['own.test'])
  expect(hostsOf({ network: false })).toBeUndefined()
  expect(hostsOf({ network: { allow: [] } })).toBeUndefined()
  expect(hostsOf({ configured: undefined })).toBeUndefined()
})

it('the network of a client replaces those of the agent and the configuration, and may be none', () => {
  expect(hostsOf({ requested: { allow: ['asked.test'] } })).toEqual(['asked.test'])
  expect(hostsOf({ requested: { allow: ['asked.test'] }, network: false })).toEqual(['asked.test'])
  expect(hostsOf({ requested: false, network: { allow: ['own.test'] } })).toBeUndefined()
  expect(hostsOf({ requested: false, backend: 'wasm' })).toBeUndefined()
  expect(() => hostsOf({ requested: { allow: ['asked.test'] }, backend: 'wasm' })).toThrow(
    expect.objectContaining({ code: 'SANDBOX_NETWORK_UNSUPPORTED' }),
  )
})

it('a client uses a credential only as an entry of the configuration or of an agent does', () => {
  const entry = (host: string, key = 'Key ${api_key}') => ({ host, headers: { a: 'x', 'x-key': key }, https: true })
  const withKey = networkOption.parse({ allow: [entry('configured.test')] })
  const ask = (allow: NetworkOption['allow']) =>
    hostsOf({ configured: withKey, network: { allow: [entry('own.test')] }, requested: { allow } })
  const reordered = { https: true, headers: { 'x-key': 'Key ${api_key}', a: 'x' }, host: 'OWN.test' }
  expect(ask([entry('configured.test'), reordered, entry('asked.test', 'plain')])).toEqual([
    'configured.test',
    'own.test',
    'asked.test',
  ])
  for (const other of [
    entry('asked.test'),
    entry('own.test:8443'),
    entry('*.own.test'),
    entry('own.test', 'Other ${api_key}'),
    entry('own.test', '${other}'),
    { ...entry('own.test'), https: false },
  ])
    expect(() => ask([other])).toThrow(expect.objectContaining({ code: 'RUN_INPUT_INVALID' }))
})

it.each(['wasm', 'mine', 'anthropic'])('a run with a network is refused in the sandbox %s', (backend) => {
  expect(() => hostsOf({ backend })).toThrow(expect.objectContaining({ code: 'SANDBOX_NETWORK_UNSUPPORTED' }))
  expect(hostsOf({ backend, network: false })).toBeUndefined()
})

it('code in the session of another workflow has the network of this session, and none of its own', () => {
  const sessionOwner = { type: 'named', name: 'etl' } as const
  expect(hostsOf({ sessionOwner })).toBeUndefined()
  for (const network of [false, { allow: ['own.test'] }] as const) {
    for (const chosen of [{ network }, { requested: network }])
      expect(() => hostsOf({ sessionOwner, ...chosen })).toThrow(expect.objectContaining({ code: 'RUN_INPUT_INVALID' }))
    expect(hostsOf({ sessionOwner, network, requested: network, isClone: true })).toBeUndefined()
  }
})

it.each([null, true, 'example.com', []])('the network of an agent must not be %j', (network) => {
  const define = () => hostsOf({ network: network as unknown as NetworkOption })
  expect(define).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
})
