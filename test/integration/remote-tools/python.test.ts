import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../src/index.js'
import { describeDependency } from '../../support/docker/describe-dependency.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { pythonPackages } from '../../support/python/python-environment.js'
import { PythonWorker } from '../../support/python/python-worker.js'
import { uniqueName } from '../../support/temporal/shared-server.js'

const script = fileURLToPath(new URL('../../fixtures/python/worker.py', import.meta.url))
const packages = await pythonPackages()
const missing = packages === undefined ? "no Temporal SDK for Python" : undefined

describeDependency('PTC_TEST_PYTHON', 'tools of a worker in Python', missing, () => {
  const taskQueue = uniqueName('python')
  let worker: PythonWorker | undefined
  beforeAll(async () => void (worker = await PythonWorker.start(packages ?? '', script, [taskQueue])))
  afterAll(() => worker?.kill())

  const tools = toolsOn(taskQueue)

  it('gets arguments as a dict or dataclass, with defaults, and its result is checked', async () => {
    const env = await TestEnvironment.start({ tools })
    const { outcome } = await env.runProgram(
      `print((await describe(text="a"))["args"], await total(article="bolt"))
try:
    await bad_total(article="bolt", count=2)
except ToolError as error:
    print(error)`,
    )
    expect(outcome).toMatchObject({ output: '' })
  })
})

function toolsOn(taskQueue: string) {
  const common = { description: 'Of a test.', effect: 'read' } as const
  const order = z.object({ article: z.string(), count: z.int().default(3) })
  return [
    defineTool({ ...common, name: 'describe', input: z.looseObject({}), output: z.looseObject({}), activity: { taskQueue } }),
    defineTool({ ...common, name: 'total', input: order, output: z.int(), activity: { taskQueue } }),
    defineTool({ ...common, name: 'bad_total', input: order, output: z.string(), activity: { taskQueue, type: 'total' } }),
  ]
}
