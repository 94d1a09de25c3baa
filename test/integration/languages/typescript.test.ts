import { expect, it, onTestFinished } from 'vitest'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { useDockerBackend } from '../../support/sandbox/docker-sandbox.js'

describeDocker('cells in TypeScript', () => {
  const backend = useDockerBackend()

  it('types are removed first, also where JavaScript would read them as comparisons, and lines stay', async () => {
    const harness = await new SessionHarness(backend, {}, undefined, 'typescript').open()
    onTestFinished(() => harness.close())
    const run = (source: string) => harness.runCell(source)
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
    expect((await run('console.log(process.argv.length)')).output).toBe('2\n')
  })
})
