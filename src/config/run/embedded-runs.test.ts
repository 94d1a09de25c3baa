import { describe, expect, it } from 'vitest'
import { runConfiguration } from '../../../test/support/run-configuration.js'
import { createAgents } from '../../agents/index.js'
import type { PtcError } from '../../common/errors.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import { createRegistry } from '../../tools/registry.js'
import { networkOption } from '../options/network.js'
import { resolveRun, type RunConfiguration } from './resolve-run.js'

interface Chosen extends Partial<Pick<RunConfiguration, 'environment' | 'network' | 'files'>> {
  /** What `auto` is, where the process knows it. */
  readonly preferredBackend?: BackendChoice
}

const registry = createRegistry([])

function resolve(options: RunConfigInput, settings: Chosen) {
  const workflow = { workflowType: 'agent', workflowId: 'run' }
  const configuration = runConfiguration(registry, createAgents([], registry), settings)
  return resolveRun(configuration, options, workflow).config
}

function failureOf(options: RunConfigInput, settings: Chosen): Partial<PtcError> {
  try {
    resolve(options, settings)
    return {}
  } catch (thrown) {
    return thrown as PtcError
  }
}

describe.each([
  ['chosen', { sandbox: 'wasm' }, {}],
  ['preferred', {}, { preferredBackend: 'wasm' }],
] as const)('a run whose sandbox is embedded, because it is %s', (_, chosen, preferred) => {
  it('may have files in Python', () => {
    expect(resolve({ ...chosen, files: [] }, preferred).files).toEqual({ uploads: [] })
    expect(resolve(chosen, { ...preferred, files: true }).files).toEqual({ uploads: [] })
  })

  it.each<readonly [string, RunConfigInput, Chosen, string, string, string]>([
    [
      'files in JavaScript',
      { files: [], language: 'javascript' },
      {},
      'SANDBOX_FILES_UNSUPPORTED',
      "code in javascript can't have files in the sandbox wasm",
      'Choose the sandbox docker, or `files: false`. In the embedded sandbox, code in Python can have files.',
    ],
    [
      'an environment',
      {},
      { environment: { tools: ['read_file'] } },
      'RUN_INPUT_INVALID',
      'the sandbox wasm has no environment tools',
      'Choose another sandbox, such as docker, or remove `environment`.',
    ],
    [
      'a network',
      {},
      { network: networkOption.parse({ allow: ['example.com'] }) },
      'SANDBOX_NETWORK_UNSUPPORTED',
      "the sandbox wasm can't have a network",
      'Choose another sandbox, such as docker, or `network: false` for the agent or the run.',
    ],
    [
      'bash',
      { language: ['python', 'bash'] },
      {},
      'RUN_INPUT_INVALID',
      'the sandbox wasm does not execute python,bash',
      'It executes one language: python or javascript or typescript. Choose another sandbox, such as docker.',
    ],
  ])('is refused at its start with %s', (_what, options, settings, code, message, hint) => {
    expect(failureOf({ ...chosen, ...options }, { ...preferred, ...settings })).toMatchObject({ code, message, hint })
    expect(failureOf({ ...options, sandbox: 'docker' }, { ...preferred, ...settings })).toEqual({})
  })
})

it('a run without code, and one in a named session, are not refused for the sandbox that others get', () => {
  const settings = { preferredBackend: 'wasm', environment: { tools: ['read_file'] } } as const
  expect(failureOf({ isPlain: true, clientTools: [] }, settings)).toEqual({})
  expect(failureOf({ session: 'etl', language: ['python', 'bash'] }, { preferredBackend: 'wasm' })).toEqual({})
})

it('code that Anthropic executes has no files', () => {
  expect(failureOf({ sandbox: 'anthropic', files: [] }, {})).toMatchObject({ code: 'SANDBOX_FILES_UNSUPPORTED' })
})
