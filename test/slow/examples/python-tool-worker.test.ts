import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { describeDependency } from '../../support/docker/describe-dependency.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { pythonPackages } from '../../support/python/python-environment.js'
import { PythonWorker } from '../../support/python/python-worker.js'

const example = fileURLToPath(new URL('../../../examples/python-tool-worker/', import.meta.url))
const config = fileURLToPath(new URL('../../fixtures/python-tool-worker.config.ts', import.meta.url))
const packages = await pythonPackages()
const missing = packages === undefined ? 'no Temporal SDK for Python' : undefined

describeDependency('PTC_TEST_PYTHON', 'the example of a worker in Python', missing, () => {
  test('the example of a tool worker in Python prints the output that its README shows', async () => {
    const python = await PythonWorker.start(packages ?? '', `${example}worker.py`)
    onTestFinished(() => python.kill())
    const env = await TestEnvironment.startProcesses({ config })
    const { outcome } = await env.runProgram(await readFile(`${example}program.py`, 'utf8'))
    const readme = await readFile(`${example}README.md`, 'utf8')
    const [, shown] = /\$ npx ptc exec program\.py\n(.*?)```/s.exec(readme) ?? []
    expect(outcome).toMatchObject({ status: 'ok', output: shown })
  })
})
