import { afterAll, describe, expect, it } from 'vitest'
import { createDockerBackend } from '../../src/sandbox/docker/index.js'
import { createWasmBackend } from '../../src/sandbox/wasm/index.js'
import type { SandboxBackend } from '../../src/sandbox/backend.js'
import { describeDocker } from '../support/docker.js'
import { kept } from './kept-programs.js'
import { refused, refusedProcesses, unusable } from './refused-programs.js'
import { repeating } from './repeating-programs.js'
import { inBoth, notebookOf, restoredFrom, snapshotOf } from './restored.js'

describeDocker('a snapshot of a container', () => {
  const backend = createDockerBackend()
  afterAll(() => backend.close())
  snapshots(backend, [...kept, ...repeating], refused, unusable)
  refuses(backend, refusedProcesses)

  it('has no more bytes than it may', async () => {
    const notebook = await notebookOf(backend, ['import os\nnoise = os.urandom(200_000)'])
    expect(await snapshotOf(notebook, { bytes: 100_000, seconds: 60 })).toMatchObject({
      reason: expect.stringMatching(/^noise: more bytes/),
    })
    expect(await snapshotOf(notebook)).toMatchObject({ text: expect.stringMatching(/^[\w+/]+=*$/) })
    await notebook.close()
  })

  it('goes on after one that took too long: the program is as it was', async () => {
    const loop = 'import types\nn = types.SimpleNamespace()\ndef loop(_):\n    while True: pass\nn.__reduce_ex__ = loop'
    const notebook = await notebookOf(backend, [loop])
    expect(await snapshotOf(notebook, { bytes: 1e6, seconds: 1 })).toMatchObject({ reason: 'it takes too long' })
    expect((await notebook.run('print(n.__reduce_ex__ is loop)')).output).toBe('True\n')
    await notebook.close()
  })
})

describe('a snapshot of an embedded interpreter', () => {
  const backend = createWasmBackend({ warm: 0 })
  afterAll(() => backend.close())
  // An interpreter takes seconds to begin: those that differ from a container's in how Python makes them.
  const names = /^(dataclasses|enumerations|files|sets)/
  const some = [...kept, ...repeating].filter(([name]) => names.test(name))
  snapshots(backend, some, refused.slice(0, 1), unusable.slice(0, 1))
})

function snapshots(
  backend: SandboxBackend,
  programs: typeof kept,
  others: typeof refused,
  changes: typeof unusable,
): void {
  it.each(programs)('keeps %s', async (_, cells, check) => {
    const [original, restored] = await inBoth(backend, cells, check)
    expect(restored).toBe(original)
    expect(original).not.toBe('')
  })

  refuses(backend, others)

  it.each(changes)('is not used after %s', async (_, cell, reason) => {
    const notebook = await notebookOf(backend, [cell])
    const { text = '' } = await snapshotOf(notebook)
    await expect(restoredFrom(text, notebook, backend)).rejects.toThrow(reason)
    await notebook.close()
  })

  it('of a sandbox that was made from one is as good', async () => {
    const first = await notebookOf(backend, ['class A:\n    n = 1\na = [A()]\na.append(a)'])
    const one = await restoredFrom((await snapshotOf(first)).text ?? '', first, backend)
    await one.run('A.n += 1')
    const again = await snapshotOf(one)
    await first.close()
    await one.close()
    const two = await restoredFrom(again.text ?? '', one, backend)
    expect((await two.run('print(a[0].n, a[1] is a, type(a[0]) is A)')).output).toBe('2 True True\n')
    await two.close()
  })

  it('is not made in the middle of a cell', async () => {
    const notebook = await notebookOf(backend, [])
    await notebook.begin('await get(a=1)')
    expect(await snapshotOf(notebook)).toMatchObject({ reason: 'the program is not between two cells' })
    await notebook.close()
  })
}

function refuses(backend: SandboxBackend, programs: typeof refused): void {
  it.each(programs)('is refused for %s, and the program goes on', async (_, cell, reason) => {
    const notebook = await notebookOf(backend, [cell])
    expect(await snapshotOf(notebook, { bytes: 32 * 1024 * 1024, seconds: 5 })).toMatchObject({
      reason: expect.stringContaining(reason),
    })
    expect((await notebook.run('import sys; sys.__stdout__ and 0\nassert 1 + 1 == 2')).final.type).toBe('completed')
    await notebook.close()
  })
}
