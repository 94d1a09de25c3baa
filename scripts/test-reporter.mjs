// A vitest reporter. It prints each failure when it happens, and appends what happens to a file of one JSON object a
// line, so that a run that is cut off has said what it found. test-results.mjs reads the file.
import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { wholeFile } from './test-results.mjs'

/** The variable that names the file. */
export const resultsVariable = 'PTC_TEST_RESULTS'

export default class FailuresAtOnce {
  #vitest
  #file = process.env[resultsVariable]
  #begun = new Map()

  onInit(vitest) {
    this.#vitest = vitest
  }

  /** A worker takes the file. */
  onTestModuleQueued(module) {
    this.#begun.set(module.id, performance.now())
    this.#write({ kind: 'begun', ...this.#place(module) })
  }

  onTestCaseResult(test) {
    const result = test.result()
    if (result.state === 'failed') this.#failed(test.module, test.fullName, result.errors)
  }

  /** A suite fails by itself when a hook of it fails. */
  onTestSuiteResult(suite) {
    if (suite.errors().length > 0) this.#failed(suite.module, suite.fullName, suite.errors())
  }

  onTestModuleEnd(module) {
    if (module.errors().length > 0) this.#failed(module, wholeFile, module.errors())
    const states = [...module.children.allTests()].map((test) => test.result().state)
    const count = (...wanted) => states.filter((state) => wanted.includes(state)).length
    this.#write({
      kind: 'ended',
      ...this.#place(module),
      isFailed: module.state() === 'failed',
      passed: count('passed'),
      skipped: count('skipped', 'pending'),
      seconds: Math.round((performance.now() - this.#begun.get(module.id)) / 100) / 10,
    })
  }

  onTestRunEnd(_modules, unhandledErrors) {
    for (const error of unhandledErrors) {
      const path = error.VITEST_TEST_PATH
      const file = typeof path === 'string' ? relative(this.#vitest.config.root, path) : undefined
      this.#write({ kind: 'unhandled', file, message: messageOf(error) })
    }
    this.#write({ kind: 'complete' })
  }

  #failed(module, name, errors) {
    const place = this.#place(module)
    this.#write({ kind: 'failure', ...place, name, message: errors.map(messageOf).join('\n') })
    const { logger } = this.#vitest
    logger.error(`\n FAILED  ${place.project} ${place.file} > ${name}`)
    for (const error of errors) logger.printError(error, { project: module.project })
  }

  #place(module) {
    return { project: module.project.name, file: relative(this.#vitest.config.root, module.moduleId) }
  }

  #write(line) {
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(line)}\n`)
  }
}

/** Without the frames of vitest itself. */
function messageOf({ name, message, stack = '', stacks }) {
  const frames = stacks?.map(({ method, file, line, column }) => `    at ${method} ${file}:${line}:${column}`)
  return `${name}: ${message}\n${frames?.join('\n') ?? stack}`
}
