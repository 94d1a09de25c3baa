/*
 * Measures what a cell uses: the time for which its code ran, its CPU time, and the peak of its memory.
 *
 * | member              | meaning                                                                                      |
 * |---------------------|----------------------------------------------------------------------------------------------|
 * | `run_ms`            | time for which code of the program ran: waiting for the host does not count                  |
 * | `cpu_ms`            | of this process with its threads, and of its children that have ended                        |
 * | `peak_memory_bytes` | highest resident memory of this process since the cell began; absent where the kernel can't  |
 * |                     | reset the mark (gVisor)                                                                      |
 *
 * What the runner itself uses in a cell is in the numbers. Work of earlier cells that still goes on is, too.
 */
'use strict'
const { readFileSync, writeFileSync } = require('node:fs')

const TICK_MS = 10 // of the times in /proc/self/stat
// Fields of /proc/self/stat after the name of the program, which ends with the last parenthesis.
const [CHILDREN_USER, CHILDREN_SYSTEM] = [13, 14]
const RESET_PEAK = '5' // see proc(5), clear_refs
const cpuUsage = process.cpuUsage.bind(process)
const { max, round } = Math

class CellUsage {
  /** @param runMs returns the time for which code ran since the runner began */
  constructor(runMs) {
    this.runMs = runMs
    this.begin()
  }

  begin() {
    this.startMs = this.runMs()
    this.startCpuMs = cpuMs()
    this.hasPeak = resetPeak()
  }

  /** Returns the use of the cell since `begin`, for a result. */
  measure() {
    const usage = { run_ms: sinceStart(this.runMs(), this.startMs), cpu_ms: sinceStart(cpuMs(), this.startCpuMs) }
    const peak = this.hasPeak ? peakBytes() : undefined
    return peak === undefined ? usage : { ...usage, peak_memory_bytes: peak }
  }
}

function sinceStart(now, start) {
  return max(round(now - start), 0)
}

function cpuMs() {
  const { user, system } = cpuUsage()
  return (user + system) / 1_000 + childrenCpuMs()
}

function childrenCpuMs() {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return TICK_MS * (Number(fields[CHILDREN_USER]) + Number(fields[CHILDREN_SYSTEM])) || 0
  } catch {
    return 0
  }
}

function resetPeak() {
  try {
    writeFileSync('/proc/self/clear_refs', RESET_PEAK)
    return true
  } catch {
    return false
  }
}

function peakBytes() {
  try {
    const [, kibibytes] = /^VmHWM:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? []
    return kibibytes === undefined ? undefined : 1_024 * Number(kibibytes)
  } catch {
    return undefined
  }
}

module.exports = { CellUsage }
