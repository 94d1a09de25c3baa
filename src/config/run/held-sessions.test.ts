import { describe, expect, it } from 'vitest'
import { runConfiguration } from '../../../test/support/run-configuration.js'
import { tool } from '../../../test/support/tools.js'
import { type AgentSession, createAgents, defineAgent } from '../../agents/index.js'
import type { PtcError } from '../../common/errors.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import { createRegistry } from '../../tools/registry.js'
import { defined } from '../../common/defined.js'
import { resolveRun } from './resolve-run.js'

const registry = createRegistry([tool('lookup', () => null)])
const network = { allow: ['api.example.com'] }

interface Chosen {
  readonly sessions?: readonly string[] | Readonly<Record<string, AgentSession>>
  readonly ofAgent?: object
  readonly options?: RunConfigInput
  readonly workflowType?: string
  readonly preferredBackend?: BackendChoice
}

function resolve({ sessions = ['etl'], ofAgent = {}, options = {}, workflowType = 'agent', preferredBackend }: Chosen) {
  const agent = defineAgent({ name: 'analyst', instructions: 'You analyse.', sessions, ...ofAgent })
  const configuration = runConfiguration(registry, createAgents([agent], registry), {
    backendsWithoutNetwork: ['wasm'],
    ...defined({ preferredBackend }),
  })
  const workflow = { workflowType, workflowId: 'run' }
  return resolveRun(configuration, { agent: 'analyst', ...options }, workflow).config.heldSessions
}

function failureOf(chosen: Chosen): Pick<PtcError, 'code' | 'message'> | undefined {
  try {
    resolve(chosen)
    return undefined
  } catch (thrown) {
    return thrown as PtcError
  }
}

describe('the further sandboxes of a run', () => {
  it('agree with the own sandbox of the agent in what they do not say', () => {
    const ofAgent = { language: 'javascript', environment: true, image: 'data', network }
    expect(resolve({ ofAgent, sessions: ['etl'] })).toEqual([
      {
        name: 'etl',
        language: 'javascript,environment',
        sandbox: 'docker',
        image: { image: 'data' },
        network,
        networkDescription: 'api.example.com',
      },
    ])
  })

  it('have a language, an image and a network of their own', () => {
    const sessions = {
      etl: { language: ['python', 'bash'], packages: { pip: ['polars'] } },
      web: { network },
      closed: { network: false },
    } as const
    expect(resolve({ sessions })).toEqual([
      { name: 'etl', language: 'python,bash', sandbox: 'docker', image: { packages: { pip: ['polars'] } } },
      { name: 'web', language: 'python', network, networkDescription: 'api.example.com' },
      { name: 'closed', language: 'python', network: false },
    ])
  })

  it('have the network that the client chooses in place of that of the agent, and none when it allows none', () => {
    const sessions = { etl: {}, web: { network }, closed: { network: false } } as const
    const ofClient = (requested: RunConfigInput['network']) =>
      resolve({ sessions, ofAgent: { network }, options: defined({ network: requested }) })?.map((each) => each.network)
    const other = { allow: ['other.test'] }
    expect(ofClient(undefined)).toEqual([network, network, false])
    expect(ofClient(other)).toEqual([other, network, false])
    expect(ofClient(false)).toEqual([false, false, false])
  })

  it('are those of runs with a model only', () => {
    expect(resolve({ workflowType: 'conversation' })).toHaveLength(1)
    expect(resolve({ workflowType: 'program' })).toBeUndefined()
    expect(resolve({ options: { isPlain: true, clientTools: [] } })).toBeUndefined()
    expect(resolve({ sessions: [] })).toBeUndefined()
  })

  it.each<readonly [Chosen, string, string]>([
    [{ options: { sandbox: 'anthropic' } }, 'RUN_INPUT_INVALID', 'the sandbox anthropic has none'],
    [{ options: { clientTools: [] } }, 'RUN_INPUT_INVALID', "their code can't call client tools"],
    [
      { options: { sandbox: 'wasm' }, sessions: { etl: { image: 'data' } } },
      'RUN_INPUT_INVALID',
      'etl has an image, and the sandbox wasm has none',
    ],
    [
      { options: { sandbox: 'wasm' }, sessions: { etl: { network } } },
      'SANDBOX_NETWORK_UNSUPPORTED',
      "the sandbox wasm can't have a network",
    ],
    [
      { options: { sandbox: 'wasm' }, sessions: { etl: { language: 'bash' } } },
      'RUN_INPUT_INVALID',
      'the sandbox wasm does not execute bash',
    ],
    [
      { options: { sandbox: 'wasm', files: [] }, sessions: { etl: { language: 'javascript' } } },
      'SANDBOX_FILES_UNSUPPORTED',
      "etl of agent analyst has files, and code in javascript can't have files in the sandbox wasm",
    ],
  ])('are refused at the start of the run when its sandbox can not have them: %o', (chosen, code, message) => {
    expect(failureOf(chosen)).toMatchObject({ code, message: expect.stringContaining(message) as string })
  })

  it('are refused at the start when the sandbox that `auto` chooses is known, and can not have them', () => {
    const ofAgent = { files: true }
    const sessions = { web: { language: 'javascript' } } as const
    expect(failureOf({ ofAgent, sessions })).toBeUndefined()
    expect(failureOf({ ofAgent, sessions, preferredBackend: 'wasm' })).toMatchObject({
      code: 'SANDBOX_FILES_UNSUPPORTED',
      message: "web of agent analyst has files, and code in javascript can't have files in the sandbox wasm",
    })
    expect(resolve({ preferredBackend: 'wasm' })).toEqual([{ name: 'etl', language: 'python' }])
  })

  it.each<readonly [unknown, string]>([
    [null, 'agent analyst: sessions must be a list of names'],
    ['etl', 'agent analyst: sessions must be a list of names'],
    [['a b'], 'agent analyst: "a b" can\'t be the name of a session'],
    [[7], "agent analyst: 7 can't be the name of a session"],
    [['etl', 'etl'], 'agent analyst: two sessions are named etl'],
    [Array.from({ length: 9 }, (_, index) => `s${index}`), 'agent analyst: it has 9 sessions; at most 8'],
    [{ etl: 'data' }, 'agent analyst: session etl must be an object'],
    [{ etl: { images: 'data' } }, 'agent analyst: session etl has a problem'],
    [{ etl: { language: 'cobol' } }, 'agent analyst: session etl has a problem: there is no language "cobol"'],
    [{ etl: { network: 'all' } }, 'agent analyst: session etl has a problem: network must be an object'],
  ])('a definition with wrong ones is refused: %o', (sessions, message) => {
    expect(failureOf({ sessions: sessions as Chosen['sessions'] & object })).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(message) as string,
    })
  })
})
