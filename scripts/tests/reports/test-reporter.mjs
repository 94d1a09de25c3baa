// A vitest reporter. It prints each failure when it happens, and appends events to a file of JSON lines, so that an
// interrupted run leaves its results. test-results.mjs reads the file.
import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { wholeFile } from './test-results.mjs'

/** Environment variable with the path of the file. */
export const resultsVariable = 'PTC_TEST_RESULTS'

export default class ImmediateFailureReporter {
  #vitest
  #file = process.env[resultsVariable]
  #started = new Map()

  onInit(vitest) {
    this.#vitest = vitest
  }

  /** A worker starts the file. */
  onTestModuleQueued(module) {
    this.#started.set(module.id, performance.now())
    this.#write({ kind: 'started', ...this.#fileOf(module) })
  }

  onTestCaseResult(test) {
    const result = test.result()
    if (result.state === 'failed') this.#failed(test.module, test.fullName, result.errors)
  }

  /** A suite itself fails when one of its hooks fails. */
  onTestSuiteResult(suite) {
    if (suite.errors().length > 0) this.#failed(suite.module, suite.fullName, suite.errors())
  }

  onTestModuleEnd(module) {
    if (module.errors().length > 0) this.#failed(module, wholeFile, module.errors())
    const states = [...module.children.allTests()].map((test) => test.result().state)
    const count = (...wanted) => states.filter((state) => wanted.includes(state)).length
    this.#write({
      kind: 'ended',
      ...this.#fileOf(module),
      isFailed: module.state() === 'failed',
      passed: count('passed'),
      skipped: count('skipped', 'pending'),
      seconds: Math.round((performance.now() - this.#started.get(module.id)) / 100) / 10,
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
    const place = this.#fileOf(module)
    this.#write({ kind: 'failure', ...place, name, message: errors.map(messageOf).join('\n') })
    const { logger } = this.#vitest
    logger.error(`\n FAILED  ${place.project} ${place.file} > ${name}`)
    for (const error of errors) logger.printError(error, { project: module.project })
  }

  #fileOf(module) {
    return { project: module.project.name, file: relative(this.#vitest.config.root, module.moduleId) }
  }

  #write(line) {
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(line)}\n`)
  }
}

/** Formats an error without the frames of vitest. */
function messageOf({ name, message, stack = '', stacks }) {
  const frames = stacks?.map(({ method, file, line, column }) => `    at ${method} ${file}:${line}:${column}`)
  return `${name}: ${message}\n${frames?.join('\n') ?? stack}`
}
