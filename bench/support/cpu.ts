import { readdirSync, readFileSync } from 'node:fs'

/** Linux reports CPU time in hundredths of a second. */
const tickMs = 10

/**
 * CPU time of a process with all its threads, user and system, in milliseconds. Linux only.
 *
 * @throws Error when the process does not exist
 */
export function processCpuMs(pid: number): number {
  return statOf(pid).cpuMs
}

/** CPU time of the processes of a process group, in milliseconds. Linux only. */
export function groupCpuMs(group: number): number {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return pids.reduce((sum, pid) => {
    const stat = statIfRunning(pid)
    return stat?.group === group ? sum + stat.cpuMs : sum
  }, 0)
}

interface Stat {
  readonly group: number
  readonly cpuMs: number
}

function statIfRunning(pid: number): Stat | undefined {
  try {
    return statOf(pid)
  } catch {
    return undefined
  }
}

function statOf(pid: number): Stat {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the name of the program, which may contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [group, user, system] = [fields[2], fields[11], fields[12]].map(Number)
  return { group: group ?? Number.NaN, cpuMs: ((user ?? Number.NaN) + (system ?? Number.NaN)) * tickMs }
}
