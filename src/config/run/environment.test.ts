import { describe, expect, it } from 'vitest'
import { runConfiguration } from '../../../test/support/run-configuration.js'
import { tool } from '../../../test/support/tools.js'
import { createAgents, defineAgent } from '../../agents/index.js'
import type { PtcError } from '../../common/errors.js'
import { type EnvironmentConfig, type EnvironmentOption, environmentTools } from '../../common/run/environment.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import { createRegistry } from '../../tools/registry.js'
import { environmentOption } from '../options/environment.js'
import { resolveRun } from './resolve-run.js'

const registry = createRegistry([tool('grep', () => null), tool('lookup', () => null)])
const agent = (name: string, environment?: EnvironmentOption, tools: readonly string[] = ['lookup']) =>
  defineAgent({ name, instructions: 'You write code.', tools, ...(environment !== undefined && { environment }) })
const agents = createAgents(
  [
    agent('coder', true),
    agent('reader', ['read_file', 'list_files']),
    agent('masking', { sensitiveFiles: 'mask' }),
    agent('none', false),
    agent('as-configured'),
    agent('searcher', true, ['grep']),
    agent('reader-with-grep', ['read_file'], ['grep']),
  ],
  registry,
)
const readOnly: EnvironmentConfig = { tools: ['read_file'] }

function resolve(options: RunConfigInput, environment?: EnvironmentConfig, workflowType = 'agent') {
  const { config } = resolveRun(runConfiguration(registry, agents, { environment }), options, {
    workflowType,
    workflowId: 'run',
  })
  return { language: config.language, environment: config.environment }
}

function failureOf(options: RunConfigInput): Pick<PtcError, 'code' | 'message'> | undefined {
  try {
    resolve(options)
    return undefined
  } catch (thrown) {
    return thrown as PtcError
  }
}

const withoutRunCode = environmentTools.filter((name) => name !== 'run_code')
const language = 'python,environment'

describe('the environment of a run', () => {
  it.each<readonly [string, RunConfigInput, EnvironmentConfig | undefined, EnvironmentConfig | undefined]>([
    ['nothing, without an agent and a configuration', {}, undefined, undefined],
    ['that of the configuration', { tools: ['lookup'] }, readOnly, readOnly],
    ['that of its agent', { agent: 'coder' }, readOnly, { tools: withoutRunCode }],
    ['the tools that its agent names', { agent: 'reader' }, undefined, { tools: ['read_file', 'list_files'] }],
    ['the policy of its agent', { agent: 'masking' }, undefined, { tools: withoutRunCode, sensitiveFiles: 'mask' }],
    ['nothing, when its agent says so', { agent: 'none' }, readOnly, undefined],
    ['that of the configuration, with an agent', { agent: 'as-configured' }, readOnly, readOnly],
  ])('is %s', (_, options, configured, expected) => {
    const resolved = resolve(options, configured)
    expect(resolved.environment).toEqual(expected)
    expect(resolved.language).toBe(expected ? language : 'python')
  })

  it('only a run with a model of its own has one', () => {
    const none = { language: 'python', environment: undefined }
    expect(resolve({}, readOnly, 'program')).toEqual(none)
    expect(resolve({}, readOnly, 'session')).toEqual(none)
    expect(resolve({ clientTools: [] }, readOnly)).toEqual(none)
    expect(resolve({ isPlain: true, clientTools: [] }, readOnly)).toEqual(none)
    expect(resolve({ agent: 'coder' }, undefined, 'conversation')).toMatchObject({ language })
  })

  it('a run whose client names the environment can execute its cells', () => {
    expect(resolve({ language: ['python', 'environment'] }, undefined, 'session')).toEqual({ language })
  })

  it.each(['wasm', 'anthropic'])('the sandbox %s refuses it at the start of the run', (sandbox) => {
    expect(failureOf({ agent: 'coder', sandbox })).toMatchObject({
      code: 'RUN_INPUT_INVALID',
      message: `the sandbox ${sandbox} has no environment tools`,
    })
  })

  it('a tool of the run with the name of an environment tool is refused', () => {
    expect(failureOf({ agent: 'searcher' })).toMatchObject({
      code: 'TOOL_DUPLICATE',
      message: 'grep is a tool of the environment, and another tool of the run',
    })
    expect(failureOf({ agent: 'reader-with-grep' })).toBeUndefined()
  })

  it('a sub-agent in the sandbox of its parent has one if its parent has one', () => {
    const shared = { lease: { key: 'k', amounts: {} }, sandboxOwner: { workflowId: 'parent', key: 'k' } }
    expect(failureOf({ ...shared, agent: 'coder' })).toMatchObject({
      code: 'RUN_INPUT_INVALID',
      message: 'agent coder has an environment, and its parent has none',
    })
    expect(resolve({ ...shared, agent: 'reader', language })).toMatchObject({
      language,
      environment: { tools: ['read_file', 'list_files'] },
    })
    expect(resolve({ ...shared, agent: 'none', language })).toEqual({ language })
    expect(resolve({ ...shared, agent: 'as-configured' }, readOnly)).toEqual({ language: 'python' })
  })
})

it('an environment names at least one tool that there is', () => {
  const isValid = (option: unknown) => environmentOption.safeParse(option).success
  expect([true, false, ['grep'], {}, { tools: ['grep'] }, { sensitiveFiles: 'mask' }].every(isValid)).toBe(true)
  expect([[], ['rm'], 'true', { tools: [] }, { sensitiveFiles: 'show' }, { other: 1 }, null].some(isValid)).toBe(false)
})
