import { describe, expect, it } from 'vitest'
import { RunTreeBuilder } from '../../../../src/client/run-tree/index.js'
import { renderTree } from '../../../../src/cli/rendering/tree/render-tree.js'
import { LocalStore } from '../../../../src/values/local/local-store.js'
import { Values } from '../../../../src/values/values.js'
import { backends } from '../../../support/environment/backends.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { tool } from '../../../support/tools.js'

const echo = tool('echo', ({ value }) => value)

/** The output of `ptc show` for the last run. */
async function renderedTree(env: TestEnvironment, full: boolean): Promise<string> {
  const builder = new RunTreeBuilder({})
  await builder.add((await env.history()).events)
  const values = new Values({ store: new LocalStore(env.valuesDirectory), retryForMs: 0 })
  await builder.fetchValues(values, full)
  await values.close()
  const tree = builder.tree()
  return renderTree(tree, { width: 120, color: false, full })
}

describe.each(backends)('the output of a cell, in %s', (backend) => {
  it('the output of a cell is stored completely, although the model gets only head and tail', async () => {
    const env = await TestEnvironment.start({ backend, tools: [echo], limits: { outputCharacters: 1_000 } })
    const source = 'for n in range(3):\n    for i in range(1_000): print("line", n, i)\n    await echo(value=n)'
    const { outcome } = await env.runProgram(source)
    expect(outcome.output).toMatch(/^line 0 0\n[^]*\n\[\.\.\. 31670 characters cut \.\.\.\]\n[^]*line 2 999\n$/)
    const full = await renderedTree(env, true)
    for (const line of ['line 0 500', 'line 1 500', 'line 2 500']) expect(full).toContain(line)
    expect(full).not.toContain('characters cut')
  })

  it('the stored output of a cell has a limit, too, over all steps of the cell', async () => {
    const env = await TestEnvironment.start({ backend, tools: [echo], limits: { outputCharacters: 200_000 } })
    const source = 'for n in range(10):\n    print(str(n) * 160_000)\n    await echo(value=n)'
    const { outcome } = await env.runProgram(source)
    expect(outcome.output.length).toBeLessThan(200_000 + 10 * 1_000)
    for (let n = 0; n < 10; n += 1) expect(outcome.output).toContain(String(n).repeat(300))
    expect(await renderedTree(env, true)).toContain('characters cut')
  })
})
