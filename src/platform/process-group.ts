/** Signals a process and its group, which it leads (`detached`); on Windows only the process. Never throws. */
export function signalProcessGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal)
  } catch {
    // The group has ended.
  }
}
