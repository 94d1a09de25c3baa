// Runs vitest as a process and reads its results.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { readLines } from './reports/report-lines.mjs'
import { root } from '../setup.mjs'
import { handleSignals } from './signals.mjs'
import { resultsVariable } from './reports/test-reporter.mjs'
import { hasFailed, resultsOf, wholeFile } from './reports/test-results.mjs'

/** Milliseconds from SIGTERM to SIGKILL. */
const graceMs = 15_000
const hasGroups = process.platform !== 'win32'
const vitest = join(root, 'node_modules/vitest/vitest.mjs')

/**
 * @param {string[]} vitestArguments
 * @param {{ lines: string, seconds: number }} options `lines`: a file that does not exist
 * @returns the result of `resultsOf`, and how vitest ended; `interruptedBy` is a signal to this process
 */
export async function runVitest(vitestArguments, { lines, seconds }) {
  const reporters = vitestArguments.some((argument) => argument.startsWith('--reporter')) ? [] : ['--reporter=default']
  const ourReporter = `--reporter=${join(root, 'scripts/tests/reports/test-reporter.mjs')}`
  const child = spawn(process.execPath, [vitest, 'run', ...reporters, ourReporter, ...vitestArguments], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, [resultsVariable]: lines },
    // The process has its own process group, so that killGroup reaches all its processes.
    detached: hasGroups,
  })
  const ending = await endOf(child, seconds)
  const results = resultsOf(readLines(lines))
  const unfinished = results.files.filter((file) => !file.hasEnded)
  if (ending.interruptedBy === undefined && !ending.isCutOff) {
    const silent = unfinished.filter((file) => !hasFailed(file))
    for (const file of silent) file.failures.push({ name: wholeFile, message: 'vitest ended before this file did' })
  }
  return { ...results, ...ending, unfinished }
}

/** Ends the process at the time limit, or when this process gets a signal. */
function endOf(child, seconds) {
  return new Promise((settle) => {
    let interruptedBy
    let isCutOff = false
    let killTimer
    const end = () => {
      child.kill('SIGTERM')
      killTimer ??= setTimeout(() => child.kill('SIGKILL'), graceMs)
    }
    const handleAgain = handleSignals((signal) => {
      interruptedBy ??= signal
      end()
    })
    const limit = setTimeout(() => {
      isCutOff = true
      end()
    }, seconds * 1_000)
    child.once('close', (code, signal) => {
      handleAgain()
      clearTimeout(limit)
      clearTimeout(killTimer)
      killGroup(child.pid)
      settle({ code, signal, interruptedBy, isCutOff })
    })
  })
}

/** Kills the group: a test process with a running test does not end by itself when vitest has ended. */
function killGroup(leader) {
  if (!hasGroups) return
  try {
    process.kill(-leader, 'SIGKILL')
  } catch (thrown) {
    if (thrown.code !== 'ESRCH') throw thrown
  }
}
