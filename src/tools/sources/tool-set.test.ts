import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../test/support/tools.js'
import { refOf } from '../../common/json/external-value.js'
import { createRegistry } from '../registry.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { loadDocumentation, findRunTools, recordToolSet, loadSignatures } from './tool-set.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))
const { signal } = new AbortController()

const lookup = (fields: Record<string, z.ZodType> = {}) =>
  tool('lookup', () => null, { input: z.object(fields) as never })
const before = createRegistry([lookup(), tool('first', () => null)])
const after = createRegistry([lookup({ id: z.int() }), tool('second', () => null)])

it('every worker loads the recorded tools, also a worker with other tools', async () => {
  const recorded = await recordToolSet(before, values, signal)
  for (const registry of [before, after]) {
    expect(await loadDocumentation(recorded, registry, values, signal)).toEqual(before.documentation())
    expect(await loadSignatures(recorded, registry, values, signal)).toEqual(before.signatures())
  }
  expect(findRunTools(before, recorded).registryMatchesRun).toBe(true)
  expect(findRunTools(after, recorded).registryMatchesRun).toBe(false)
})

it('no signatures are loaded for a sandbox that has its stubs', async () => {
  const { digest } = await recordToolSet(before, values, signal)
  expect(await loadSignatures({ digest }, after, values, signal)).toBeUndefined()
})

it('the documentation of 200 tools is stored externally', async () => {
  const many = createRegistry(Array.from({ length: 200 }, (_, number) => tool(`tool_${number}`, () => null)))
  const recorded = await recordToolSet(many, values, signal)
  expect(JSON.stringify(recorded).length).toBeLessThan(1_500)
  expect(refOf(recorded.documentation)).toBeDefined()
  expect(await loadDocumentation(recorded, after, values, signal)).toHaveLength(200)
})

it('refuses a record that is not documentation of tools', async () => {
  const recorded = { ...(await recordToolSet(before, values, signal)), documentation: [{ name: 'lookup' }] }
  await expect(loadDocumentation(recorded, after, values, signal)).rejects.toMatchObject({ code: 'VALUE_CORRUPT' })
})
