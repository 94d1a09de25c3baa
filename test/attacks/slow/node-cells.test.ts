import { expect, it } from 'vitest'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { answerResult, code, turn } from '../../support/script.js'

describeDocker('hostile code in JavaScript', () => {
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
  ] as const)('J08 code in JavaScript that %s ends only its own cell', async (_, source, expected) => {
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
})
