import { buffer } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { defineAgent } from '../../../../src/index.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { answerResult, call, turn } from '../../../support/script.js'
import { tool } from '../../../support/tools.js'

const code = (source: string, more: object = {}) => call('execute_code', { code: source, ...more })
const inEtl = (source: string) => code(source, { session: 'etl' })
const inWeb = (source: string) => code(source, { session: 'web' })

/** A PNG with one pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describeDocker('further sandboxes of an agent', () => {
  it('each has files, a language and tools of its own, and its artifacts are files of the run', async () => {
    const agent = defineAgent({
      name: 'analyst',
      instructions: 'You analyse.',
      files: true,
      environment: true,
      sessions: { etl: {}, web: { language: 'javascript' } },
    })
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [tool('rate', () => 7)],
      agents: [agent],
      script: [
        turn(code('x = "own"\nopen("/tmp/f", "w").write("own")')),
        turn(inEtl('import os\nx = await rate({})\nprint(x, os.path.exists("/tmp/f"), open("/tmp/in/a.txt").read())')),
        turn(inWeb('const x = await rate({}); console.log("web", x)')),
        turn(inEtl('os.makedirs("/tmp/out", exist_ok=True); open("/tmp/out/r.txt", "w").write("made"); print(x)')),
        turn(inEtl(`import base64\nopen("/tmp/out/p.png", "wb").write(base64.b64decode("${png}"))`)),
        turn(call('read_file', { path: '/tmp/out/r.txt', session: 'etl' })),
        turn(call('execute_command', { command: 'cat /tmp/f /tmp/in/a.txt' })),
        turn(code('console.log(1)', { session: 'etl', language: 'javascript' })),
        turn(
          call('share_file', { path: '/tmp/out/r.txt', session: 'etl' }),
          inWeb('import fs from "node:fs"; console.log(fs.readFileSync("/tmp/in/shared/etl/r.txt", "utf8"))'),
          call('share_file', { path: 'r.txt' }),
          call('share_file', { path: 'r.txt', session: 'constructor' }),
        ),
        turn(code('print(x)')),
        answerResult,
      ],
    })
    const run = await env.ptc.startAgent({
      agent: 'analyst',
      question: 'Go.',
      files: [{ data: 'upload', path: 'a.txt' }],
    })
    expect(await run.result()).toMatchObject({ status: 'answered', answer: 'own', toolCalls: 2 })
    const cells = (await run.tree()).turns.flatMap((each) => each.cells)
    expect(cells.map(({ output, error }) => output.trim() + (error ?? ''))).toEqual([
      '',
      '7 False upload',
      'web 7',
      '7',
      '',
      '1\tmade',
      'ownupload',
      'made',
      'own',
    ])
    const sent = JSON.stringify(env.api.requests.at(-1)?.body)
    expect(sent).toContain('there is no language \\"javascript\\" here, only python')
    expect(sent).toContain('[files] 1 file kept from /tmp/out:\\n/tmp/out/r.txt (text/plain, 4 B)')
    expect(sent).toContain('[files] /tmp/out/etl/p.png:')
    expect(sent).toContain("/tmp/out/r.txt can't be given: no such file was kept")
    expect(sent).toContain('there is no session \\"constructor\\" here: only etl, web')
    expect(sent).toContain(png)
    const files = ['/tmp/in/a.txt', '/tmp/out/etl/r.txt', '/tmp/out/etl/p.png']
    expect((await run.files.list()).map(({ path }) => path)).toEqual(files)
    expect((await run.tree()).files?.map(({ path }) => path)).toEqual(files)
    expect((await buffer(run.files.read('etl/r.txt'))).toString()).toBe('made')
    const owners = new Set(cells.flatMap(({ owner }) => owner?.workflowId ?? []))
    expect(owners.size).toBe(2)
    for (const id of [run.workflowId, ...owners]) {
      const handle = env.sessionHandle(id, id)
      await handle.result()
      await env.expectCleanEnd(handle)
    }
  })
})
