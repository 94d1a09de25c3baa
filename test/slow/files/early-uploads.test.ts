import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'

describeDocker('an upload to a run that has just started', () => {
  it('the run accepts it before it has read its configuration, and its first code finds it', async () => {
    const env = await TestEnvironment.start({ backend: 'docker', tools: [], initialWorkers: [] })
    const run = await env.ptc.startProgram({ source: 'print(open("/tmp/in/a.txt").read())', files: [] })
    const uploading = run.files.upload([{ data: 'early', path: 'a.txt' }])
    await env.workers.start()
    await uploading
    expect(await run.result()).toMatchObject({ outcome: { status: 'ok', output: 'early\n' } })
    await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
  })

  it('an upload to a run that can not start fails with the run', async () => {
    const env = await TestEnvironment.start({ backend: 'wasm', tools: [], initialWorkers: [] })
    const run = await env.ptc.startProgram({ source: 'console.log(1)', language: 'javascript', files: [] })
    const uploading = run.files.upload([{ data: 'early', path: 'a.txt' }])
    const refused = expect(uploading).rejects.toMatchObject({ name: 'PtcError' })
    await env.workers.start()
    await refused
    await expect(run.result()).rejects.toMatchObject({ code: 'SANDBOX_FILES_UNSUPPORTED' })
  })
})
