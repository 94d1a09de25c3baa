import { expect, test } from 'vitest'
import { ExampleProject, expectStops } from '../../support/example-process.js'

test('the example of sessions executes the steps of a workflow, and a notebook that survives its worker', async () => {
  const project = await ExampleProject.build('session-from-code')
  const first = project.start('worker.js')
  expect(await project.run('start.js')).toBe('lyon, month 3: closed for two weeks: water damage\n')

  const session = `quarter-${process.pid}`
  await expect(project.run('notebook.js', 'report', session)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^SESSION_NOT_FOUND: /),
  })
  expect(await project.run('notebook.js', 'load', session)).toBe('3 shops are loaded\n')
  await expectStops(first)
  const second = project.start('worker.js')
  expect(await project.run('notebook.js', 'report', session)).toBe('berlin 935\nlyon 655\nporto 465\n')
  expect(await project.run('notebook.js', 'close', session)).toBe('closed after 2 executions\n')
  await expectStops(second)
})
