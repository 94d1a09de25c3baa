import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, expect, it } from 'vitest'
import { runConfiguration, runDefaults } from '../../../test/support/run-configuration.js'
import { createAgents, defineAgent } from '../../agents/index.js'
import { isExternal } from '../../common/json/external-value.js'
import type { JsonValue } from '../../common/json/json.js'
import { PtcError } from '../../common/errors.js'
import type { RunConfig } from '../../common/run/run-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import type { SandboxContents } from '../../common/run/sandbox-image.js'
import { createRegistry } from '../../tools/registry.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { type ContentsLookup, loadRunConfig } from './load-run-config.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))

const registry = createRegistry([])
const packages = { pip: ['polars'] }
const agents = createAgents(
  [
    defineAgent({ name: 'analyst', instructions: 'You analyse.', image: 'data', packages }),
    defineAgent({ name: 'any', instructions: 'You answer.' }),
  ],
  registry,
)
const none = { names: [], more: 0 }
const contents: SandboxContents = {
  programs: ['Python 3.11.2', 'Bash 5.2.15'],
  languages: ['python', 'bash'],
  packages: { apt: none, pip: none, npm: none },
}
const minute = 60_000

/** The configuration that a run records, and the sandboxes that were asked what they have. */
async function load(
  options: RunConfigInput,
  backend = 'auto',
  answer: () => SandboxContents | undefined = () => contents,
) {
  const asked: unknown[] = []
  const contentsOf: ContentsLookup = async (ofBackend, spec) => {
    asked.push({ backend: ofBackend, ...spec })
    return answer()
  }
  const configuration = runConfiguration(registry, agents, { defaults: { ...runDefaults, backend } })
  const activity = loadRunConfig(configuration, values, () => Promise.resolve([]), { contentsOf })
  const environment = new MockActivityEnvironment({ workflowType: 'agent' })
  const config: RunConfig = await environment.run(activity, options)
  return { config, asked }
}

it('the image of an agent is recorded, and needs Docker', async () => {
  const { config, asked } = await load({ agent: 'analyst' })
  const image = { image: 'data', packages }
  expect(config).toMatchObject({ image, backend: 'docker', contents })
  expect(asked).toEqual([{ backend: 'docker', language: 'python', image }])
})

it('a run whose agent has no image has that of the configuration', async () => {
  const { config, asked } = await load({ agent: 'any' })
  expect(config).not.toHaveProperty('image')
  expect(config.backend).toBe('auto')
  expect(asked).toEqual([{ backend: 'auto', language: 'python', image: undefined }])
})

it.each<readonly [string, RunConfigInput, string, string]>([
  ['in the embedded sandbox', { agent: 'analyst', sandbox: 'wasm' }, 'auto', 'the sandbox wasm has no images'],
  ['in the configured backend', { agent: 'analyst' }, 'mine', 'the sandbox mine has no images'],
  ['in a named session', { agent: 'analyst', session: 'books' }, 'auto', 'session books has its own'],
])('refuses an agent with an image %s', async (_, options, backend, message) => {
  const expected = { type: 'RUN_INPUT_INVALID', message: expect.stringContaining(message) }
  await expect(load(options, backend)).rejects.toMatchObject(expected)
})

it('refuses a run in a language that the image lacks', async () => {
  await expect(load({ language: 'python,ruby' })).rejects.toMatchObject({
    type: 'RUN_INPUT_INVALID',
    message: expect.stringContaining('the image of the sandbox has no ruby; it has python, bash'),
  })
})

it('a run whose sandbox is unknown here begins without a description', async () => {
  expect((await load({}, 'auto', () => undefined)).config).not.toHaveProperty('contents')
  const isDown = (): never => {
    throw new PtcError('SANDBOX_UNAVAILABLE', 'the daemon does not answer')
  }
  expect((await load({ language: 'python,ruby' }, 'auto', isDown)).config).not.toHaveProperty('contents')
})

it('a sub-agent in the sandbox of its parent is told of the image of its parent', async () => {
  const image = { image: 'data' }
  const { asked } = await load({ agent: 'any', sandboxOwner: { workflowId: 'parent', key: 'k', image } })
  expect(asked).toMatchObject([{ image }])
})

it('a plain run has no sandbox', async () => {
  const { config, asked } = await load({ agent: 'analyst', clientTools: [], isPlain: true })
  expect(config).not.toHaveProperty('image')
  expect(asked).toEqual([])
})

it('a long description is stored, because every turn has it in the history', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `package-${index} 1.0`)
  const long = { ...contents, packages: { ...contents.packages, pip: { names, more: 1 } } }
  const { config } = await load({}, 'auto', () => long)
  const recorded = (config.contents ?? null) as JsonValue
  expect(isExternal(recorded)).toBe(true)
  expect(JSON.stringify(recorded).length).toBeLessThan(500)
  const loaded = await values.load(recorded, 'the test', AbortSignal.timeout(minute))
  expect(loaded).toEqual(long)
})
