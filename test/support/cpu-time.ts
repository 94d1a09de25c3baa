/** Milliseconds of CPU time of some work. Elapsed time is meaningless on a busy machine. */
export function cpuMs(work: () => void): number {
  const begin = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / 1_000
}
