import { expect, test } from 'vitest'
import { ExampleProject, expectStops } from '../../support/example-process.js'

test('the example of an existing worker runs its workflow with a program, and ends on SIGTERM', async () => {
  const project = await ExampleProject.build('existing-worker')
  const worker = project.start('worker.js')
  expect(await project.run('start.js')).toBe('order of 128 x bolt is placed\norder of 111 x washer is placed\n')
  await expectStops(worker)
})
