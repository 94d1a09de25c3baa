// Summarizes the lines of test-reporter.mjs.

/**
 * @typedef {{ project: string, file: string, hasEnded: boolean, seconds: number, passed: number, skipped: number,
 *   failures: { name: string, message: string }[] }} FileResult
 */

/** Name of a failure that belongs to no single test. */
export const wholeFile = '(the whole file)'

/**
 * Returns the results of one run of vitest, and the errors that belong to no file.
 *
 * @returns {{ files: FileResult[], unhandled: string[], isComplete: boolean }}
 */
export function resultsOf(lines) {
  const files = new Map()
  const unhandled = []
  const fileOf = (line) => {
    if (!files.has(nameOf(line))) files.set(nameOf(line), started(line))
    return files.get(nameOf(line))
  }
  for (const line of lines) {
    if (line.kind === 'started') files.set(nameOf(line), started(line))
    if (line.kind === 'failure') fileOf(line).failures.push({ name: line.name, message: line.message })
    if (line.kind === 'ended') end(fileOf(line), line)
    if (line.kind === 'unhandled') {
      const owner = ownerOf(line, [...files.values()])
      if (owner === undefined) unhandled.push(line.message)
      else owner.failures.push({ name: wholeFile, message: line.message })
    }
  }
  return { files: [...files.values()], unhandled, isComplete: lines.some(({ kind }) => kind === 'complete') }
}

/** Vitest names no file for a dead test process. It belongs to a file that has not ended. */
function ownerOf({ file, message }, files) {
  if (file !== undefined) return files.find((each) => each.file === file)
  return message.includes('[vitest-pool]') ? files.find((each) => !each.hasEnded && !hasFailed(each)) : undefined
}

/** @returns {FileResult} */
function started({ project, file }) {
  return { project, file, hasEnded: false, seconds: 0, passed: 0, skipped: 0, failures: [] }
}

function end(file, { isFailed, passed, skipped, seconds }) {
  Object.assign(file, { hasEnded: true, passed, skipped, seconds })
  if (isFailed && file.failures.length === 0) file.failures.push({ name: wholeFile, message: 'vitest gave no reason' })
}

/** Display name of a file. A file can be in several projects. */
export function nameOf({ project, file }) {
  return `${project} ${file}`
}

export function hasFailed(file) {
  return file.failures.length > 0
}

/** `N passed, N failed, N skipped`: the last line of every test command. */
export function countLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}

export function countsOf(files) {
  const sum = (count) => files.reduce((total, file) => total + count(file), 0)
  return {
    passed: sum((file) => file.passed),
    failed: sum((file) => file.failures.length),
    skipped: sum((file) => file.skipped),
  }
}
