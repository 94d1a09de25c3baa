import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { answerResult, code, turn } from '../../support/script.js'
import { ServeEnvironment } from '../../support/serve/serve-environment.js'

const copyAll = code('import shutil\nshutil.copytree("/tmp/in", "/tmp/out", dirs_exist_ok=True)\nprint("copied")')

describeDocker('files of conversations over HTTP', () => {
  it('a message and a PUT upload files, and artifacts are downloaded', async () => {
    const served = await ServeEnvironment.start({
      backend: 'docker',
      tools: [],
      script: [turn(copyAll), answerResult, turn(copyAll), answerResult],
    })
    const server = await served.server()
    const files = `${server.url}/conversations/${served.name}/files`
    const small = { path: 'small.txt', data: Buffer.from('small').toString('base64') }
    const first = await server.post('/messages?wait', { text: 'Copy.', files: [small] })
    expect(first).toMatchObject({ status: 200, body: { status: 'answered' } })
    const large = Buffer.alloc(8_000_000, 'x')
    expect((await fetch(`${files}/data/large.bin`, { method: 'PUT', body: large })).status).toBe(201)
    await server.post('/messages?wait', { text: 'Copy again.' })
    const listed = (await (await fetch(files)).json()) as readonly { readonly path: string }[]
    expect(listed.map(({ path }) => path)).toEqual([
      '/tmp/in/small.txt',
      '/tmp/in/data/large.bin',
      '/tmp/out/small.txt',
      '/tmp/out/data/large.bin',
    ])
    const got = await fetch(`${files}/tmp/out/data/large.bin`)
    expect(got.headers.get('content-disposition')).toContain('attachment')
    expect(Buffer.from(await got.arrayBuffer()).equals(large)).toBe(true)
    expect((await fetch(`${server.url}/conversations/none/files`)).status).toBe(404)
  })
})
