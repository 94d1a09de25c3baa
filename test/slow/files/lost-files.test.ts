import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { uniqueName } from '../../support/temporal/shared-server.js'

describeDocker('files that are lost', () => {
  it('an execution reports an upload that could not be written, and an artifact that could not be kept', async () => {
    const env = await TestEnvironment.start({ backend: 'docker', tools: [] })
    const { sessions } = env.ptc
    const name = uniqueName('lost')
    env.sessionHandle(name)
    await sessions.execute(name, 'import os\nos.makedirs("/tmp/in/a.txt")', { files: [] })
    const source = 'os.makedirs("/tmp/out", exist_ok=True)\nos.symlink("/etc/passwd", "/tmp/out/link")'
    const { outcome } = await sessions.execute(name, source, { files: [{ data: 'x', path: 'a.txt' }] })
    expect(outcome).toMatchObject({
      status: 'ok',
      lostFiles: [
        { path: '/tmp/in/a.txt', problem: expect.stringMatching(/directory/i) },
        { path: '/tmp/out/link', problem: 'it is a link' },
      ],
    })
  })
})
