import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, code, turn } from '../../support/script.js'
import { uniqueName } from '../../support/temporal/shared-server.js'

const copy = (name: string) =>
  code(
    `import os, shutil\nos.makedirs("/tmp/out", exist_ok=True)\nshutil.copy("/tmp/in/${name}", "/tmp/out")\nprint("copied")`,
  )

describeDocker('files of conversations and sessions', () => {
  it('a message brings files, which the model is told of and its code reads, and the client reads the artifacts', async () => {
    const script = [turn(copy('a.txt')), answerResult, turn(copy('b.txt')), answerResult]
    const env = await TestEnvironment.start({ backend: 'docker', tools: [], script })
    const conversation = env.ptc.conversation(uniqueName('talk'))
    const first = await conversation.ask('Copy a.', { files: [{ data: 'one', path: 'a.txt' }] })
    expect(first).toMatchObject({ status: 'answered', answer: expect.stringContaining('copied') })
    const second = await conversation.ask('Copy b.', { files: [{ data: 'two', path: 'b.txt' }] })
    expect(second).toMatchObject({ status: 'answered', answer: expect.stringContaining('/tmp/out/b.txt') })
    const [started, , continued] = env.api.requests.map(({ body }) => JSON.stringify(body))
    expect(started).toContain('/tmp/in/a.txt (text/plain, 3 B)')
    expect(continued).toContain('/tmp/in/b.txt (text/plain, 3 B)')
    expect((await conversation.files.list()).map(({ path }) => path)).toEqual([
      '/tmp/in/a.txt',
      '/tmp/in/b.txt',
      '/tmp/out/a.txt',
      '/tmp/out/b.txt',
    ])
    expect(await text(conversation.files.read('/tmp/out/b.txt'))).toBe('two')
    await conversation.close()
    await env.expectCleanEnd(env.client.workflow.getHandle(conversation.workflowId))
  })

  it('a conversation that began without files refuses a message with files, and continues', async () => {
    const script = Array.from({ length: 2 }, () => turn({ type: 'text', text: 'Hello.' }))
    const env = await TestEnvironment.start({ backend: 'wasm', tools: [], script })
    const conversation = env.ptc.conversation(uniqueName('talk'))
    await conversation.ask('Hello.')
    const refused = conversation.ask('Read this.', { files: [{ data: 'one', path: 'a.txt' }] })
    await expect(refused).rejects.toMatchObject({
      code: 'RUN_INPUT_INVALID',
      message: expect.stringContaining('it has no files: start it with `files: true`'),
    })
    expect(await conversation.ask('Hello again.')).toMatchObject({ status: 'answered', message: 2 })
    await conversation.close()
  })

  it('an execution of a session brings files, and its outcome has the artifacts', async () => {
    const env = await TestEnvironment.start({ backend: 'docker', tools: [] })
    const { sessions } = env.ptc
    const name = uniqueName('books')
    const source =
      'import os\nos.makedirs("/tmp/out", exist_ok=True)\nopen("/tmp/out/n.txt", "w").write(open("/tmp/in/a.txt").read() * 2)'
    const { outcome } = await sessions.execute(name, source, { files: [{ data: 'ab', path: 'a.txt' }] })
    expect(outcome).toMatchObject({ status: 'ok', files: [{ path: '/tmp/out/n.txt', bytes: 4 }] })
    await sessions.files(name).upload([{ data: 'later', path: 'b.txt' }])
    const later = await sessions.execute(name, 'print(open("/tmp/in/b.txt").read())')
    expect(later.outcome).toMatchObject({ status: 'ok', output: 'later\n' })
    expect(await text(sessions.files(name).read('n.txt'))).toBe('abab')
    expect((await sessions.files(name).list()).map(({ path }) => path)).toEqual([
      '/tmp/in/a.txt',
      '/tmp/in/b.txt',
      '/tmp/out/n.txt',
    ])
    await sessions.close(name)
    expect(await sessions.files(name).list()).toHaveLength(3)
  })
})
