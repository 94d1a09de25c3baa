import { expect, it } from 'vitest'
import { projectOf } from '../../support/cli/project-of.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { uniqueName } from '../../support/temporal/shared-server.js'
import { answerResult, code, turn } from '../../support/script.js'

const addUp = `
import os
total = sum(int(line) for line in open("/tmp/in/table.csv").read().split()[1:])
os.makedirs("/tmp/out", exist_ok=True)
open("/tmp/out/total.csv", "w").write(f"total\\n{total}\\n")
print(total)`

describeDocker('ptc files', () => {
  it('ptc run uploads a file and lists the artifacts, which ptc files lists and gets', async () => {
    const env = await TestEnvironment.start({ backend: 'docker', tools: [], script: [turn(code(addUp)), answerResult] })
    await using project = await projectOf(env, { 'table.csv': 'n\n1\n41\n' })
    const id = uniqueName('run')
    const ran = await project.run('run', '--id', id, '--upload', 'table.csv', 'Add it up.')
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^42\n/) })
    expect(ran.stderr).toContain(
      `1 file, which \`ptc files get ${id} PATH\` downloads:\n  /tmp/out/total.csv  text/csv · 9 B`,
    )
    expect(await project.run('files', 'list', id)).toMatchObject({
      code: 0,
      stdout: [
        'PATH                SIZE  TYPE',
        '/tmp/in/table.csv   7 B   text/csv',
        '/tmp/out/total.csv  9 B   text/csv\n',
      ].join('\n'),
    })
    expect(await project.run('files', 'get', id, 'total.csv', '-')).toMatchObject({ code: 0, stdout: 'total\n42\n' })
  })
})
