import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../define-tool.js'
import { createRegistry } from '../registry.js'
import { lockOf } from './lock-of.js'

const input = z.object({ path: z.string().trim().optional() })
type Input = z.output<typeof input>

function throwing(): string {
  throw new Error('no disk')
}

const write = (lockBy: (given: Input) => unknown) =>
  createRegistry([
    defineTool({
      name: 'write',
      description: 'Writes.',
      input,
      output: z.null(),
      effect: 'idempotent',
      lockBy: lockBy as (given: Input) => string,
      run: () => null,
    }) as never,
  ])

const byPath = write(({ path }) => path)

it('the lock of a call is a digest of the key, from the parsed arguments', async () => {
  const lock = await lockOf(byPath, 'write', { path: '/etc/secret' })
  expect(lock).toMatch(/^[0-9a-f]{32}$/)
  expect(await lockOf(byPath, 'write', { path: ' /etc/secret ' })).toBe(lock)
  expect(await lockOf(byPath, 'write', { path: '/etc/other' })).not.toBe(lock)
})

it('a call whose key is undefined has no lock', async () => {
  expect(await lockOf(byPath, 'write', {})).toBeUndefined()
})

it('arguments that break the schema of the tool have no lock, and the call is refused', async () => {
  await expect(lockOf(byPath, 'write', { path: 7 })).rejects.toMatchObject({ code: 'TOOL_INPUT_INVALID' })
})

it.each([
  ['returned no text', () => 7],
  ['returned no text', () => Promise.resolve('a')],
  ['returned more than 10000 characters', () => 'k'.repeat(10_001)],
  ['threw no disk', throwing],
] satisfies [string, () => unknown][])(
  'a call whose lock is unknown is refused, because lockBy %s',
  async (why, lockBy) => {
    await expect(lockOf(write(lockBy), 'write', { path: 'a' })).rejects.toMatchObject({
      code: 'TOOL_NOT_ALLOWED',
      message: `the lock of write is unknown: lockBy ${why}`,
    })
  },
)

it('a worker without the tool derives no lock, so that another worker does', async () => {
  await expect(lockOf(createRegistry([]), 'write', {})).rejects.toMatchObject({ code: 'TOOL_NOT_REGISTERED' })
})
