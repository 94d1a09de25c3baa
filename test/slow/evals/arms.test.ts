import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { evalModel, EvalProject, task } from '../../support/evals/eval-project.js'
import { text, turn } from '../../support/script.js'

const answer = turn(text('It is 42.'))

const withoutSqlite = fileURLToPath(new URL('../../support/evals/without-sqlite.mjs', import.meta.url))

test('each of two models has its own requests and results in one eval, and compare names them by number', async () => {
  const other = 'claude-haiku-4-5'
  await using evals = await EvalProject.create({ 'a.yaml': task('Question a?'), 'b.yaml': task('Question b?') }, [
    answer,
  ])
  const { code, stdout, stderr } = await evals.run('a.yaml', 'b.yaml', '--model', other)
  expect(code, stderr).toBe(0)
  expect(stdout).toContain('4 of 4 passed')
  const { id, arms, samples } = await evals.latest()
  expect(arms.map(({ passRate }) => passRate)).toEqual([1, 1])
  // The same tokens cost more with the first model.
  expect(arms[0]?.spentUsd).toBeGreaterThan(arms[1]?.spentUsd ?? Number.NaN)
  expect(new Set(samples.map(({ workflow_id: workflow }) => workflow)).size).toBe(4)
  const models = evals.api.requests.map(({ body }) => z.object({ model: z.string() }).parse(body).model)
  expect(models.toSorted()).toEqual([other, other, evalModel, evalModel])
  const compared = await evals.project.run('eval', 'compare', `${id}/1`, `${id}/2`)
  expect(compared.code, compared.stderr).toBe(0)
  expect(compared.stdout).toMatch(/^A .*claude-sonnet-4-6.* 2 of 2 passed\nB .*claude-haiku-4-5.* 2 of 2 passed\n/)
  const unnamed = await evals.project.run('eval', 'compare', id, `${id}/2`)
  expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringContaining('does not name one model of the eval') })
})

test('without better-sqlite3, the error has a code and the command that installs it', async () => {
  await using evals = await EvalProject.create({ 'a.yaml': task('Question a?') }, [answer])
  const { code, stderr } = await evals.runWith({ NODE_OPTIONS: `--import ${withoutSqlite}` }, 'a.yaml')
  expect(code, stderr).toBe(1)
  expect(stderr).toContain('ptc eval needs the package better-sqlite3')
  expect(stderr).toContain('npm install better-sqlite3@12')
  expect(evals.api.requests).toEqual([])

  const built = JSON.stringify(new URL('../../../dist/evals/index.js', import.meta.url))
  const source = `import { EvalStore } from ${built}
await EvalStore.open(':memory:').catch(({ code, hint }) => console.log(JSON.stringify({ code, hint })))`
  const nodeArguments = ['--import', withoutSqlite, '--input-type=module', '--eval', source]
  const { stdout } = await promisify(execFile)(process.execPath, nodeArguments)
  expect(JSON.parse(stdout)).toEqual({
    code: 'EVAL_STORE_UNAVAILABLE',
    hint: 'Install it: npm install better-sqlite3@12',
  })
})
