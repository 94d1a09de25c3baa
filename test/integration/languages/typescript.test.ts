import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { canStripTypes } from '../../../src/platform/strip-types.js'
import type { SandboxBackend } from '../../../src/sandbox/backend.js'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'
import { createWasmBackend } from '../../../src/sandbox/wasm/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { createSpec } from '../../support/sandbox/create-spec.js'
import { useDockerBackend } from '../../support/sandbox/docker-sandbox.js'

async function openSession(backend: SandboxBackend, language = 'typescript') {
  const harness = await new SessionHarness(backend, {}, undefined, language).open()
  onTestFinished(() => harness.close())
  return (source: string, isChecked = false) =>
    harness.runCell(source, undefined, isChecked ? { checked: true } : undefined)
}

describeDocker('cells in TypeScript, in Docker', () => {
  const backend = useDockerBackend()
  describeTypes(backend)

  it('the program does not see the argument of its runner', async () => {
    const run = await openSession(backend)
    expect((await run('console.log(process.argv.length)')).output).toBe('2\n')
  })
})

describe.runIf(canStripTypes)('cells in TypeScript, in the embedded sandbox', () => {
  const backend = createWasmBackend({ language: 'typescript' })
  afterAll(async () => backend.close())
  describeTypes(backend)
})

describe.runIf(!canStripTypes)('the embedded sandbox, of a Node.js that can not remove types', () => {
  const backend = createWasmBackend({ warm: 0 })
  afterAll(async () => backend.close())

  it('refuses TypeScript when it is opened', async () => {
    const spec = { ...createSpec('typed'), language: 'typescript' }
    await expect(backend.open(spec, new AbortController().signal)).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: `Node.js ${process.versions.node} can't remove the types of TypeScript`,
    })
  })

  it('refuses types in a cell of JavaScript, with a hint', async () => {
    const run = await openSession(backend, 'javascript')
    expect((await run('let a = 1\nconst x: number = a')).finalResult).toMatchObject({
      error: expect.stringMatching(/^cell-1\.js:2\n[^]*Write plain JavaScript: Node\.js [\d.]+ can't remove/) as string,
    })
  })
})

function describeTypes(backend: SandboxBackend): void {
  it('types are removed first, also where JavaScript would read them as comparisons, and lines stay', async () => {
    const run = await openSession(backend)
    await run('interface Item { readonly a: number }\nconst same = <T>(value: T): T => value')
    expect((await run('console.log(same<number>(1), (await get({ a: 2 }) as Item).a)')).output).toBe('1 2\n')
    expect((await run('const x: number = 1\n\nnull!.y')).finalResult).toMatchObject({
      error: expect.stringContaining('cell-3.js:3') as string,
    })
    expect((await run('const x: number = 1\nconst y: string = )')).finalResult).toMatchObject({
      error: expect.stringMatching(
        /^cell-4\.js:2\n[^]*const y: string = \)\n +\^\n\nSyntaxError: Expression expected$/,
      ) as string,
    })
    expect((await run('enum Color { Red }')).finalResult).toMatchObject({
      error: expect.stringContaining('Only types are removed: write an enum as an object') as string,
    })
  })

  it('a cell is checked without its types, on the same lines', async () => {
    const run = await openSession(backend)
    const { finalResult, calls } = await run(
      'type Row = { a: number }\nawait get({ a: 1 })\nconst row: Row = await gett({ a: 1 })\nconst b: string = get({ a: 1 }).a',
      true,
    )
    expect(finalResult).toMatchObject({
      error: `The code was checked before it ran, and nothing of it was executed:
line 3: ReferenceError: gett is not defined. Did you mean the tool get()?
line 4: get() is called but not awaited: write \`await get(...)\`.`,
    })
    expect(calls).toEqual([])
  })

  it('a cell of JavaScript may have types, and what is valid in both is read as JavaScript', async () => {
    const run = await openSession(backend, 'javascript')
    expect((await run('const n: number = 2\nconsole.log(n)')).output).toBe('2\n')
    expect((await run('const a = 1, b = 2\nconsole.log(a < b > (0))')).output).toBe('true\n')
    expect((await run('let a: number = 1\nenum Color { Red }')).finalResult).toMatchObject({
      error: expect.stringContaining('Only types are removed: write an enum as an object') as string,
    })
  })

  it('after code that is nested too deeply, an error says that types can not be removed any more', async () => {
    const run = await openSession(backend)
    const nested = await run(`let x: ${'A<'.repeat(3_000)}B${'>'.repeat(3_000)}`)
    expect(nested.finalResult).toMatchObject({
      error: expect.stringContaining(
        "SyntaxError: types can't be removed from code that is nested this deeply",
      ) as string,
    })
    const next = await run('console.log(1)')
    expect(next.finalResult).toMatchObject({
      error: expect.stringContaining("SyntaxError: types can't be removed any more: the session has had") as string,
    })
    expect(JSON.stringify([nested, next])).not.toMatch(/node:|runner|internals/)
  })
}
