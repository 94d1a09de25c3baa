import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../test/support/tools.js'
import { refOf } from '../common/values.js'
import { createRegistry } from '../tools/registry.js'
import { LocalStore } from '../values/local-store.js'
import { Values } from '../values/values.js'
import { documentationOf, isRunsRegistry, recordToolSet, signaturesOf } from './tool-set.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))
const { signal } = new AbortController()

const lookup = (fields: Record<string, z.ZodType> = {}) =>
  tool('lookup', () => null, { input: z.object(fields) as never })
const before = createRegistry([lookup(), tool('first', () => null)])
const after = createRegistry([lookup({ id: z.int() }), tool('second', () => null)])

it('gives every worker the tools that were recorded, also one that is configured with others', async () => {
  const recorded = await recordToolSet(before, values, signal)
  for (const registry of [before, after]) {
    expect(await documentationOf(recorded, registry, values, signal)).toEqual(before.documentation())
    expect(await signaturesOf(recorded, registry, values, signal)).toEqual(before.signatures())
  }
  expect(isRunsRegistry(before, recorded)).toBe(true)
  expect(isRunsRegistry(after, recorded)).toBe(false)
})

it('gives a run from before tools were recorded those of the worker', async () => {
  expect(await documentationOf(undefined, after, values, signal)).toEqual(after.documentation())
  expect(await signaturesOf(undefined, after, values, signal)).toBeUndefined()
  expect(isRunsRegistry(after, undefined)).toBe(true)
})

it('gives no signatures for a sandbox that has its stubs', async () => {
  const { digest } = await recordToolSet(before, values, signal)
  expect(await signaturesOf({ digest }, after, values, signal)).toBeUndefined()
})

it('keeps two hundred tools outside of the history', async () => {
  const many = createRegistry(Array.from({ length: 200 }, (_, number) => tool(`tool_${number}`, () => null)))
  const recorded = await recordToolSet(many, values, signal)
  expect(JSON.stringify(recorded).length).toBeLessThan(1_500)
  expect(refOf(recorded.documentation)).toBeDefined()
  expect(await documentationOf(recorded, after, values, signal)).toHaveLength(200)
})
