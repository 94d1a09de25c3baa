import { afterAll, describe, expect, it } from 'vitest'
import { createWasmBackend } from '../../../src/sandbox/wasm/index.js'
import { completed, programs, repeated } from '../../support/languages/javascript-programs.js'
import { JavaScriptRunner } from '../../support/sandbox/javascript-runner.js'

const backend = createWasmBackend({ language: 'javascript' })
afterAll(async () => backend.close())

const start = async () => JavaScriptRunner.startEmbedded(backend)

describe('the embedded runner of JavaScript', () => {
  it.each(Object.entries(programs))('QuickJS: %s', async (_, [cells, expected]) => {
    const runner = await start()
    let last: Awaited<ReturnType<typeof runner.run>> | undefined
    for (const cell of cells) last = await runner.run(cell)
    if (typeof expected === 'string') expect(last).toMatchObject({ output: expected, end: completed })
    else expect(last?.end).toMatchObject(expected)
  })
})

it.each(Object.entries(repeated))('QuickJS: a new engine repeats the steps of a program with %s', async (_, source) => {
  const first = await start()
  await first.run(source)
  const second = await start()
  for (const [index, step] of first.steps.entries()) {
    second.send(step)
    expect(await second.result()).toEqual(first.results[index])
  }
  expect(first.steps.length).toBeGreaterThan(0)
})
