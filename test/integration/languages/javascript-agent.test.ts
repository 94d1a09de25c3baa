import { expect, it } from 'vitest'
import { containersOf, killContainersOf } from '../../support/environment/containers.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { answerResult, code, turn } from '../../support/script.js'
import { Deferred, tool } from '../../support/tools.js'

describeDocker('an agent whose language is JavaScript', () => {
  it('an agent runs JavaScript in a container, keeps its variables, and calls tools in parallel', async () => {
    const square = tool('square', ({ n }) => Number(n) ** 2)
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [square],
      script: [
        turn(code('const squares = await Promise.all([1, 2, 3].map((n) => square({ n })))\nconsole.log(squares)')),
        turn(code('const total: number = squares.reduce((sum, n) => sum + n, 0)\nconsole.log(total)')),
        answerResult,
      ],
    })
    const handle = await env.startAgent({ language: 'javascript' })
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: '14', cells: 2, toolCalls: 3 })
    await env.expectCleanEnd(handle)
  })

  it('a program in JavaScript is rebuilt when its container dies while it waits for a call', async () => {
    const [called, released] = [new Deferred(), new Deferred<number>()]
    const calls: unknown[] = []
    const slow = tool('slow', async ({ id }) => {
      calls.push(id)
      if (id !== 'b') return 1
      called.resolve()
      return released.promise
    })
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [slow],
      script: [
        turn(code('const seen = [Math.random()]\nawait slow({ id: "a" })\nseen.push(Date.now())')),
        turn(
          code('const before = seen.join()\nawait slow({ id: "b" })\nconsole.log(before === seen.join(), seen.length)'),
        ),
        answerResult,
      ],
    })
    const handle = await env.startAgent({ language: 'javascript' })
    await called.promise
    expect(await containersOf(handle.workflowId)).toHaveLength(1)
    await killContainersOf(handle.workflowId)
    released.resolve(2)
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'true 2' })
    expect(calls).toEqual(['a', 'b'])
    await env.expectCleanEnd(handle)
  })

  it('code in JavaScript gets large values, and waits while its sandbox is parked', async () => {
    const large = tool('large', () => ({ text: 'é'.repeat(5_000_000) }))
    const source = `
const { text } = await large({})
const before = Date.now()
await new Promise((resolve) => setTimeout(resolve, 3_000))
console.log(text.length, Date.now() - before >= 3_000)`
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [large],
      timeouts: { park: '1s' },
      limits: { resultBytes: 20_000_000 },
      script: [turn(code(source)), answerResult],
    })
    const handle = await env.startAgent({ language: 'javascript' })
    expect(await env.agentResult(handle)).toMatchObject({ answer: '5000000 true' })
    await env.expectCleanEnd(handle)
  })
})
