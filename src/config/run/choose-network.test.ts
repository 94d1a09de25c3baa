import { expect, it } from 'vitest'
import { defineAgent } from '../../agents/index.js'
import type { NetworkOption } from '../../common/run/network.js'
import type { SessionOwner } from '../../common/run/run-config.js'
import { networkOption } from '../options/network.js'
import { chooseNetwork } from './choose-network.js'

const configured = networkOption.parse({ allow: ['configured.test'] })

interface Chosen {
  readonly network?: NetworkOption | false
  readonly backend?: string
  readonly sessionOwner?: SessionOwner
  readonly configured?: typeof configured | undefined
}

function hostsOf({
  network,
  backend = 'docker',
  sessionOwner,
  ...configuration
}: Chosen): readonly string[] | undefined {
  const agent = network === undefined ? undefined : defineAgent({ name: 'a', instructions: 'Test.', network })
  const rules = chooseNetwork(
    {
      network: 'configured' in configuration ? configuration.configured : configured,
      backendsWithoutNetwork: ['wasm', 'mine'],
    },
    {},
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

it.each(['wasm', 'mine', 'anthropic'])('a run with a network is refused in the sandbox %s', (backend) => {
  expect(() => hostsOf({ backend })).toThrow(expect.objectContaining({ code: 'SANDBOX_NETWORK_UNSUPPORTED' }))
  expect(hostsOf({ backend, network: false })).toBeUndefined()
})

it('code in the session of another workflow has the network of this session, and none of its own', () => {
  const sessionOwner = { type: 'named', name: 'etl' } as const
  expect(hostsOf({ sessionOwner })).toBeUndefined()
  for (const network of [false, { allow: ['own.test'] }] as const)
    expect(() => hostsOf({ sessionOwner, network })).toThrow(expect.objectContaining({ code: 'RUN_INPUT_INVALID' }))
})

it.each([null, true, 'example.com', []])('the network of an agent must not be %j', (network) => {
  const define = () => hostsOf({ network: network as unknown as NetworkOption })
  expect(define).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
})
