import { expect, it } from 'vitest'
import { defineLanguage } from '../../../src/index.js'
import { killContainersOf } from '../../support/environment/containers.js'
import { requestMessages, TestEnvironment } from '../../support/environment/test-environment.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { answerResult, call, turn } from '../../support/script.js'
import { Deferred, tool } from '../../support/tools.js'

/** The image lacks it, which only its cell finds out: the command for the version is another one. */
const lua = defineLanguage({
  name: 'lua',
  run: ['/usr/bin/lua', '{file}'],
  file: 'cell.lua',
  version: ['/usr/bin/perl', '--version'],
})

/** Code in a language. */
const cell = (language: string, code: string) => turn(call('execute_code', { language, code }))

describeDocker('a run with several languages', () => {
  it('each language calls tools and keeps its variables, all share files, and a rebuild restores all of them', async () => {
    const [called, released] = [new Deferred(), new Deferred<number>()]
    const calls: unknown[] = []
    const square = tool('square', ({ n }) => {
      calls.push(n)
      return Number(n) ** 2
    })
    const slow = tool('slow', () => {
      calls.push('slow')
      called.resolve()
      return released.promise
    })
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [square, slow],
      script: [
        cell('python', 'x = await square(n=2)\nopen("notes", "w").write(f"python {x}\\n")'),
        cell(
          'javascript',
          `import { appendFileSync } from 'node:fs'
           let x = (await Promise.all([square({ n: 3 }), square({ n: 4 })])).join()
           appendFileSync('notes', \`javascript \${x}\\n\`)`,
        ),
        cell('bash', 'x=$(tool square n=5)\necho "bash $x" >>notes\nfalse'),
        cell('perl', 'open(my $f, ">>", "notes"); print $f "perl ", `tool square n=6`;'),
        cell(lua, 'print(1)'),
        cell('python', 'y = await slow()\nprint(x, y, open("notes").read())'),
        cell('javascript', 'console.log(x, input_data)'),
        cell('bash', 'echo $x $input_data; cat notes'),
        answerResult,
      ],
    })
    const handle = await env.startAgent({ language: ['python', 'javascript', 'bash', 'perl', lua], input: [7] })
    await called.promise
    await killContainersOf(handle.workflowId)
    released.resolve(36)
    const notes = 'python 4\njavascript 9,16\nbash 25\nperl 36'
    expect(await env.agentResult(handle)).toMatchObject({ answer: `25 [7]\n${notes}`, cells: 8, toolCalls: 6 })
    const results = requestMessages(env.api.requests.at(-1)?.body).filter(({ role }) => role === 'user')
    expect(JSON.stringify(results)).toContain(JSON.stringify(`4 36 ${notes}`).slice(1, -1))
    expect(JSON.stringify(results)).toContain('9,16 [ 7 ]')
    expect(JSON.stringify(results)).toContain('this image has no lua')
    // The calls of one `Promise.all` start in any order.
    expect(calls.map(String).toSorted()).toEqual(['2', '3', '4', '5', '6', 'slow'])
    await env.expectCleanEnd(handle)
  })
})
