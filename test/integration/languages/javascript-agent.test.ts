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

  it.each([
    [
      'takes more memory than its sandbox has',
      'const a = []; for (;;) a.push(new Array(1e6).fill(a.length))',
      /memory/,
    ],
    ['takes more memory in buffers', 'const a = []; for (;;) a.push(Buffer.alloc(1e7, 1))', /memory/],
    ['aborts its process', 'process.abort()', /crashed its process/],
    [
      'starts many processes',
      "import { spawn } from 'node:child_process'\nfor (let n = 0; n < 500; n++) spawn('sleep', ['1']).on('error', () => {})\nconsole.log('done')",
      /^$/,
    ],
    ['reads the network', "await fetch('http://1.1.1.1')", /fetch failed/],
    [
      'changes the files of the runner',
      "import { writeFileSync } from 'node:fs'\nwriteFileSync('/opt/durable-ptc/javascript/runner.js', '')",
      /EROFS|EACCES/,
    ],
    [
      'writes frames of its own',
      "import { writeSync } from 'node:fs'\nwriteSync(4, Buffer.concat([Buffer.from([0, 0, 0, 2]), Buffer.from('{}')]))\nconsole.log('sent')",
      /protocol|violat|frame/i,
    ],
  ] as const)('code in JavaScript that %s ends only its own cell', async (_, source, expected) => {
    const env = await TestEnvironment.start({
      backend: 'docker',
      script: [turn(code('globalThis.kept = 7')), turn(code(source)), turn(code('console.log(kept)')), answerResult],
    })
    const handle = await env.startAgent({ language: 'javascript' })
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: '7' })
    const { turns } = await env.ptc.handle(handle.workflowId).tree()
    expect(turns[1]?.cells[0]?.error ?? '').toMatch(expected)
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
