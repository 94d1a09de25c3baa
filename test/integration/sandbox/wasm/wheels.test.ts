import { expect, it } from 'vitest'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { temporaryFolder } from '../../../support/folders.js'
import { findProcesses, killIfRunning } from '../../../support/sandbox/wasm-sandbox.js'
import { nativeModule, nativeSuffix, nativeTags, writeWheel } from '../../../support/sandbox/wheels.js'
import { answerResult, code, turn } from '../../../support/script.js'
import { Deferred, tool } from '../../../support/tools.js'

async function folderOfWheels(): Promise<string> {
  const folder = await temporaryFolder()
  await writeWheel(folder, 'shapes', [{ path: 'shapes/__init__.py', content: 'def area(side): return side * side\n' }])
  const native = [{ path: `tiny${nativeSuffix}`, content: nativeModule('tiny') }]
  await writeWheel(folder, 'tiny', native, { version: '2.0', tags: nativeTags })
  return folder
}

it('the prompt names the packages of wheels, and a rebuilt session has them again', async () => {
  const [called, released] = [new Deferred(), new Deferred<number>()]
  const side = tool('side', () => {
    called.resolve()
    return released.promise
  })
  const wheels = await folderOfWheels()
  const env = await TestEnvironment.start({
    backend: 'wasm',
    tools: [side],
    initialWorkers: [{ sandbox: { backend: 'wasm', warm: 0, wasm: { wheels } } }],
    script: [
      turn(code('import shapes, tiny\nshapes.area(2)')),
      turn(code('print(shapes.area(await side()), tiny.__name__)')),
      answerResult,
    ],
  })
  const run = await env.ptc.startAgent({ question: 'What is the area?' })
  await called.promise
  for (const id of await findProcesses(wheels)) killIfRunning(id, 'SIGABRT')
  released.resolve(3)
  expect(await run.result()).toMatchObject({ status: 'answered', answer: '9 tiny' })
  expect(JSON.stringify(env.api.requests[0]?.body)).toContain('- Packages of Python: shapes 1.0, tiny 2.0.')
  await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
})

it('a worker does not start with a wheel for another platform', async () => {
  const wheels = await folderOfWheels()
  const name = await writeWheel(wheels, 'numpy', [], { tags: 'cp314-cp314-manylinux_2_28_x86_64' })
  const sandbox = { backend: 'wasm', warm: 0, wasm: { wheels } } as const
  await expect(TestEnvironment.start({ backend: 'wasm', initialWorkers: [{ sandbox }] })).rejects.toMatchObject({
    code: 'SANDBOX_WHEELS_INVALID',
    message: `${name}: it is for manylinux_2_28_x86_64, and the embedded sandbox is pyemscripten_2026_0_wasm32`,
    hint: expect.stringContaining('pip download --only-binary :all: --python-version 3.14'),
  })
})
