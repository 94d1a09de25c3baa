/** Milliseconds of CPU time that work takes: on a busy machine, the time on a clock says nothing. */
export function cpuMs(work: () => void): number {
  const begin = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / 1_000
}
