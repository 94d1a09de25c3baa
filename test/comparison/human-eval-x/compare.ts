import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { z } from 'zod'
import { compareTests, type ModuleRun } from '../compare.js'
import { javascriptCell, openSandboxes } from '../javascript-sandboxes.js'
import { runInRunner } from '../run.js'

const problemSchema = z.object({
  task_id: z.string(),
  prompt: z.string(),
  canonical_solution: z.string(),
  test: z.string(),
})
type Problem = z.infer<typeof problemSchema>

// Runs the solutions of HumanEval-X in JavaScript with their tests, as cells. PTC_HUMAN_EVAL_X is a checkout of
// https://github.com/THUDM/CodeGeeX; no package registry has the problems in JavaScript. Argument: a kind of sandbox.
const [kind = 'docker'] = process.argv.slice(2)
const usage = 'PTC_HUMAN_EVAL_X=FOLDER compare.ts'
const folder = process.env['PTC_HUMAN_EVAL_X']
if (folder === undefined) throw new Error(`usage: ${usage}`)
const backend = openSandboxes(kind, usage)
const problems = readProblems(join(folder, 'codegeex/benchmark/humaneval-x/js/data/humaneval_js.jsonl.gz'))
const isAsExpected = await compareTests({
  plain: 'JavaScript',
  expectedFile: fileURLToPath(new URL(`expected-differences-${kind}.txt`, import.meta.url)),
  modules: ['human-eval-x'],
  runPlain: () =>
    Promise.resolve({ outcomes: Object.fromEntries(problems.map(({ task_id }) => [task_id, 'pass'])), problems: '' }),
  runInRunner: () => runProblems(problems),
})
await backend.close()
process.exit(isAsExpected ? 0 : 1)

function readProblems(file: string): readonly Problem[] {
  const lines = gunzipSync(readFileSync(file)).toString().trim().split('\n')
  return lines.map((line) => problemSchema.parse(JSON.parse(line)))
}

async function runProblems(all: readonly Problem[]): Promise<ModuleRun> {
  const outcomes: Record<string, string> = {}
  const failures: string[] = []
  for (const { task_id: name, prompt, canonical_solution: solution, test } of all) {
    const { ended, text } = await runInRunner(backend, javascriptCell, [`${prompt}${solution}`, test])
    const hasPassed = ended === 'completed' && !text.includes('Assertion failed')
    outcomes[name] = hasPassed ? 'pass' : 'fail'
    if (!hasPassed) failures.push(`${name} (${ended})\n${text.slice(-1_000)}`)
  }
  return { outcomes, problems: failures.join('\n\n') }
}
