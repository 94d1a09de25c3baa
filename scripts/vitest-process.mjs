// One run of vitest as a process of its own, and what it reported until it ended.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { readLines } from './report-lines.mjs'
import { root } from './setup.mjs'
import { handleSignals } from './signals.mjs'
import { resultsVariable } from './test-reporter.mjs'
import { hasFailed, resultsOf, wholeFile } from './test-results.mjs'

/** From the request to end to SIGKILL. */
const graceMs = 15_000
const hasGroups = process.platform !== 'win32'
const vitest = join(root, 'node_modules/vitest/vitest.mjs')

/**
 * @param {string[]} vitestArguments
 * @param {{ lines: string, seconds: number, env?: Record<string, string> }} options `lines`: a file that does not exist
 * @returns what `resultsOf` gives, and how vitest ended; `interruptedBy` is a signal to this process
 */
export async function runVitest(vitestArguments, { lines, seconds, env = {} }) {
  const reporters = vitestArguments.some((argument) => argument.startsWith('--reporter')) ? [] : ['--reporter=default']
  const ourReporter = `--reporter=${join(root, 'scripts/test-reporter.mjs')}`
  const child = spawn(process.execPath, [vitest, 'run', ...reporters, ourReporter, ...vitestArguments], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env, [resultsVariable]: lines },
    // A process group of its own, so that nothing of it is left behind.
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

/** Ends the process when its time is up, or when this process is asked to end. */
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

/** A test process does not end by itself when vitest is gone and a test still runs. */
function killGroup(leader) {
  if (!hasGroups) return
  try {
    process.kill(-leader, 'SIGKILL')
  } catch (thrown) {
    if (thrown.code !== 'ESRCH') throw thrown
  }
}
