import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync, inflateSync } from 'node:zlib'
import { z } from 'zod'
import { defaultLimits } from '../../../dist/common/run/limits.js'
import type { DockerBackend } from '../../../dist/sandbox/docker/index.js'
import type { ModuleRun } from '../compare.js'
import { timedOut } from '../outcomes.js'
import { type Place, runContainer, runInRunner } from '../run.js'

/** Where the image has the tests: `tests/` of bash's source. */
const folder = '/opt/bash-tests/tests'

/** Limit of one test. */
const testSeconds = 120

const place: Place = { language: 'bash', limits: { ...defaultLimits, cellSeconds: testSeconds + 10 } }

const driver = readFileSync(new URL('run_test.py', import.meta.url), 'utf8')

const bytes = z.base64().transform((text) => Buffer.from(text, 'base64'))
const plainTest = z.object({ hasEnded: z.boolean(), source: bytes, right: bytes, output: bytes })
type PlainTest = z.infer<typeof plainTest>

/** The names of all tests that have a file with the right output. */
export async function allModules(image: string): Promise<readonly string[]> {
  const source = `
import os
names = set(os.listdir("${folder}"))
print(*(name[:-6] for name in sorted(names) if name.endswith(".tests") and name[:-6] + ".right" in names))`
  const { text } = await runContainer(image, place, () => ['/usr/bin/python3', '-c', source])
  return text.trim().split(/\s+/)
}

/** Runs tests of bash. The module `alias` is `alias.tests`; its right output is `alias.right`. */
export class BashTests {
  readonly #image: string
  readonly #backend: DockerBackend
  /** The last test. */
  #name = ''
  #test: PlainTest | undefined

  constructor(image: string, backend: DockerBackend) {
    this.#image = image
    this.#backend = backend
  }

  async runPlain(module: string): Promise<ModuleRun> {
    const { ended, text } = await runContainer(this.#image, place, () => [
      '/usr/bin/python3',
      '-c',
      driver,
      folder,
      module,
      String(testSeconds),
    ])
    const result = resultIn(text)
    if (result === undefined) throw new Error(`${module}.tests did not end (${ended}):\n${text.slice(-2_000)}`)
    this.#name = `${module}.tests`
    this.#test = plainTest.parse(JSON.parse(inflateSync(result).toString()))
    if (!this.#test.hasEnded) return { outcomes: { '(module)': timedOut }, problems: '' }
    return this.#runOf(this.#test, linesOf(this.#test.output))
  }

  /** Runs the test as a cell of a new session: its state comes from the cell before, as in each session. */
  async runInRunner(): Promise<ModuleRun> {
    const test = this.#test
    if (test === undefined) throw new Error('the test has not run in plain bash')
    const cells = [prelude, `exec >/tmp/test-output 2>&1; ${test.source.toString()}`, end]
    const { ended, text } = await runInRunner(this.#backend, place, cells, { stopsAtFailure: false })
    const result = resultIn(text)
    if (result === undefined) return { outcomes: { [this.#name]: ended }, problems: text.slice(-2_000) }
    return this.#runOf(test, linesOf(gunzipSync(result), this.#name))
  }

  /** A test that fails with the same output is no difference. */
  #runOf({ right, output }: PlainTest, lines: readonly string[]): ModuleRun {
    if (lines.join('\n') === linesOf(right).join('\n')) return { outcomes: { [this.#name]: 'pass' }, problems: '' }
    const digest = createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 8)
    const problems = `${this.#name}\n${describeDifferences(linesOf(output), lines).slice(0, 10_000)}`
    return { outcomes: { [this.#name]: `fail ${digest}` }, problems }
  }
}

/** Names of files that differ each time. */
const temporaryName = /\/tmp\/(?:x29-\d+|tmp\.\w+)/g

/**
 * The lines of the output, without those that start with `expect`, which are for people.
 *
 * @param name the test that the cell has executed; in plain bash, messages name its file
 */
function linesOf(output: Buffer, name?: string): readonly string[] {
  const text = output.toString('latin1')
  const named = name === undefined ? text : text.replaceAll('/run/tools/bash/cell-2.sh', `./${name}`)
  return named
    .replace(temporaryName, '/tmp/NAME')
    .split('\n')
    .filter((line) => !line.startsWith('expect'))
}

/** The first lines that differ, and all lines that only one of both has, for people. */
function describeDifferences(plain: readonly string[], cell: readonly string[]): string {
  const first = plain.findIndex((line, index) => line !== cell[index])
  if (first < 0 && plain.length === cell.length) return ''
  const absent = plain.filter((line) => !cell.includes(line)).map((line) => `- ${line}`)
  const added = cell.filter((line) => !plain.includes(line)).map((line) => `+ ${line}`)
  return [`line ${first + 1}: ${plain[first]} -> ${cell[first]}`, ...absent, ...added].join('\n')
}

function resultIn(text: string): Buffer | undefined {
  const result = /RESULT:([A-Za-z0-9+/=]+):END/.exec(text)?.[1]
  return result === undefined ? undefined : Buffer.from(result, 'base64')
}

const prelude = `
cd ${folder}
export THIS_SH=/bin/bash TMPDIR=/tmp BUILD_DIR=/tmp PATH=.:$PATH
unset OLDPWD`

const end = `printf 'RESULT:%s:END\\n' "$(/bin/gzip -c /tmp/test-output | /usr/bin/base64 -w 0)"`
