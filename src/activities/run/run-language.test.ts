import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, expect, it } from 'vitest'
import { runConfiguration, runDefaults } from '../../../test/support/run-configuration.js'
import { tool } from '../../../test/support/tools.js'
import { createAgents, defineAgent } from '../../agents/index.js'
import type { Caller } from '../../common/calls/calls.js'
import type { ClientTool } from '../../common/calls/client-tools.js'
import type { RunConfig } from '../../common/run/run-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import { canStripTypes } from '../../platform/strip-types.js'
import { createRegistry } from '../../tools/registry.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { findRunTools, loadDocumentation } from '../../tools/sources/tool-set.js'
import { loadRunConfig } from './load-run-config.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))
const registry = createRegistry([tool('lookup', () => null), tool('list', () => null), tool('fetch', () => null)])
const agents = createAgents(
  [
    defineAgent({ name: 'scripter', instructions: 'You write scripts.', language: 'javascript', tools: ['list'] }),
    defineAgent({ name: 'snake', instructions: 'You write scripts.', language: 'python' }),
    defineAgent({ name: 'several', instructions: 'You write scripts.', language: 'python, javascript' }),
    defineAgent({ name: 'any', instructions: 'You write scripts.' }),
  ],
  registry,
)

/** The configuration that a run records. @param configured the language of the configuration */
async function load(options: RunConfigInput, configured = 'python', backend = 'auto'): Promise<RunConfig> {
  const defaults = { ...runDefaults, backend }
  const configuration = runConfiguration(registry, agents, { defaults, language: configured })
  const activity = loadRunConfig(configuration, values, () => Promise.resolve([]))
  return new MockActivityEnvironment({ workflowType: 'agent' }).run(() => activity(options))
}

it.each([
  ['of the default', {}, undefined, 'python'],
  ['of the configuration', {}, 'javascript', 'javascript'],
  ['of its agent', { agent: 'scripter' }, undefined, 'javascript'],
  ['of its agent, before that of the configuration', { agent: 'snake' }, 'javascript', 'python'],
  ['of a list', { language: ['javascript', ' python'] }, undefined, 'javascript,python'],
  ['of a list with commas', { agent: 'several' }, undefined, 'python,javascript'],
  ['of the run, before that of its agent', { agent: 'scripter', language: 'python' }, 'javascript', 'python'],
])('a run has the language %s', async (_, options, configured, expected) => {
  const config = await load(options, configured)
  expect(config.language).toBe(expected)
  expect(config.toolSet.language).toBe(expected === 'python' ? undefined : expected)
})

it('a run in the default language records what a run recorded before there were languages', async () => {
  const config = await load({})
  expect(config.toolSet.digest).toBe(registry.digest)
  expect(config.toolSet).not.toHaveProperty('language')
  expect(JSON.stringify(await load({ language: 'python' }))).toBe(JSON.stringify(config))
})

it('the tools of a run are described in its language, with names that its code can use, on each worker', async () => {
  const { toolSet } = await load({ agent: 'scripter', input: [1, 2] })
  const found = findRunTools(registry, toolSet)
  expect(found).toMatchObject({ registryMatchesRun: true, registry: { names: ['list'], language: 'javascript' } })
  const [list] = await loadDocumentation(toolSet, registry, values, AbortSignal.timeout(60_000))
  expect(list?.stub).toContain('declare function list(')
  expect(list).not.toHaveProperty('codeName')
  expect(registry.get('list')).toBe(found.registry.get('list'))
  expect(findRunTools(registry, { ...toolSet, language: 'cobol' }).registryMatchesRun).toBe(false)
  const names = (language: string) =>
    registry
      .inLanguage(language)
      .signatures()
      .map(({ name }) => name)
  expect(names('python')).toEqual(['lookup', 'list_tool', 'fetch'])
  expect(names('javascript')).toEqual(['lookup', 'list', 'fetch_tool'])
})

it('a tool has one name in all languages of a run', async () => {
  const { toolSet } = await load({ language: 'javascript,python' })
  const documentation = await loadDocumentation(toolSet, registry, values, AbortSignal.timeout(60_000))
  expect(documentation.map(({ name, codeName }) => [name, codeName])).toEqual([
    ['lookup', undefined],
    ['list', 'list_tool'],
    ['fetch', 'fetch_tool'],
  ])
  expect(documentation[0]?.stub).toContain('declare function lookup(')
})

it('the data of a run is described in the terms of its language', async () => {
  expect((await load({ input: [1], language: 'javascript' })).input?.description).toBe('an array of 1 item')
  expect((await load({ input: [1] })).input?.description).toBe('a list of 1 item')
})

it('a run in TypeScript begins in the embedded sandbox if the Node.js of the worker can remove types', async () => {
  const loading = load({ language: 'typescript', sandbox: 'wasm' })
  if (canStripTypes) await expect(loading).resolves.toMatchObject({ language: 'typescript', backend: 'wasm' })
  else
    await expect(loading).rejects.toMatchObject({
      type: 'RUN_INPUT_INVALID',
      message: expect.stringContaining('the sandbox wasm executes typescript with Node.js 22.13 or later') as string,
    })
})

const look = (caller: Caller): ClientTool => ({
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  allowedCallers: [caller],
})

it('client tools are described in the language of the run', async () => {
  const { toolSet } = await load({ clientTools: [look('code_execution')], language: 'javascript' })
  expect(toolSet.language).toBe('javascript')
  expect(JSON.stringify(toolSet.documentation)).toContain('declare function look(')
})

it.each([
  ['an unknown language', { language: 'cobol' }, 'there is no language "cobol"; there are: python, javascript'],
  ['a language that is no text', { language: 7 as never }, 'language'],
  ['no language', { language: [] }, 'a language is one of python, javascript'],
  ['an empty name', { language: 'python,' }, 'there is no language ""; there are: python, javascript'],
  ['a language that is there twice', { language: ['python', 'python'] }, 'the language python is there twice'],
  ['a list with something else', { language: ['python', 7] as never }, 'a language is one of python, javascript'],
  ['several languages in the embedded sandbox', { language: 'python,javascript', sandbox: 'wasm' }, 'does not execute'],
  ['several languages at Anthropic', { language: 'python,javascript', sandbox: 'anthropic' }, 'does not execute'],
  ['bash in the embedded sandbox', { language: 'bash', sandbox: 'wasm' }, 'does not execute bash'],
  ['JavaScript at Anthropic', { language: 'javascript', sandbox: 'anthropic' }, 'does not execute javascript'],
])('refuses a run with %s', async (_, options, message) => {
  const type = 'RUN_INPUT_INVALID'
  await expect(load(options)).rejects.toMatchObject({ type, message: expect.stringContaining(message) })
})

it('accepts a run in JavaScript on workers with only the embedded sandbox, also without code', async () => {
  expect(await load({ language: 'javascript' }, 'python', 'wasm')).toMatchObject({ language: 'javascript' })
  await load({ language: 'javascript', clientTools: [look('direct')], isPlain: true }, 'python', 'wasm')
})

const ofSubagent = { lease: { key: 'k', amounts: {} }, sandboxOwner: { workflowId: 'parent', key: 'k' } }

it.each([
  ['the default language', { ...ofSubagent, agent: 'any' }, 'javascript', 'python'],
  ['another language', { ...ofSubagent, agent: 'any', language: 'javascript' }, 'python', 'javascript'],
  ['its own language', { ...ofSubagent, agent: 'scripter', language: 'javascript' }, 'python', 'javascript'],
])(
  'a sub-agent in the sandbox of its parent has the language of the parent: %s',
  async (_, options, configured, expected) => {
    expect(await load(options, configured)).toMatchObject({ language: expected, sessionOwner: { type: 'parent' } })
  },
)

it.each<readonly [string, RunConfigInput, string, string]>([
  ['a parent in the default language', { ...ofSubagent, agent: 'scripter' }, 'writes javascript', 'runs python'],
  [
    'a parent in another language',
    { ...ofSubagent, agent: 'snake', language: 'javascript' },
    'writes python',
    'runs javascript',
  ],
  [
    'a parent in a named session',
    { lease: ofSubagent.lease, session: 'books', agent: 'scripter' },
    'writes javascript',
    'runs python',
  ],
])('refuses a sub-agent with another language in the sandbox of %s', async (_, options, ...parts) => {
  for (const part of parts) {
    const expected = { type: 'RUN_INPUT_INVALID', message: expect.stringContaining(part) }
    await expect(load(options)).rejects.toMatchObject(expected)
  }
})

it('a run starts a named session in its own language', async () => {
  const owner = async (options: RunConfigInput, configured?: string) =>
    (await load({ ...options, session: 'books' }, configured)).sessionOwner
  expect(await owner({})).toEqual({ type: 'named', name: 'books' })
  expect(await owner({ language: 'javascript' })).toEqual({ type: 'named', name: 'books', language: 'javascript' })
  expect(await owner({}, 'javascript')).toEqual({ type: 'named', name: 'books' })
  expect(await owner({ language: 'python' }, 'javascript')).toMatchObject({ language: 'python' })
})
