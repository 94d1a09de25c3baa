import { type ChildProcess, spawn } from 'node:child_process'
import type { Environment } from '../../sandbox/cache-directory.js'

/**
 * A shell between us and the server that ends the server when our end of its standard input closes: by `release`, or
 * because this process was killed. Whatever happens to us, no server stays behind holding the database, which is for its user only.
 * Own process group (`detached`): Ctrl-C in a terminal reaches us alone, and the worker can finish before its server goes.
 */
const script = `
umask 077
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
{ cat <&3 >/dev/null; kill -TERM "$server"; sleep 5; kill -KILL "$server"; } >/dev/null 2>&1 &
watch=$!
exec 3<&-
wait "$server"
code=$?
kill "$watch" 2>/dev/null
exit "$code"
`

export interface Supervised {
  /** The process, and on POSIX the process group, to name and to kill. */
  readonly pid: number
  /** Settles when the process has ended, with how; rejects when it could not be started. */
  readonly ended: Promise<string>
  /** Asks the process to end. */
  release(): void
  /** Ends it at once. */
  kill(): void
}

/** Starts a program that can't outlive this process; on Windows, which has no such shell, only as far as `release` is called. */
export function supervise(
  program: string,
  programArguments: readonly string[],
  { environment, output }: { readonly environment: Environment; /** A file descriptor. */ readonly output: number },
): Supervised {
  const windows = process.platform === 'win32'
  const [command, ...commandArguments] = windows
    ? [program, ...programArguments]
    : ['/bin/sh', '-c', script, 'durable-ptc-supervisor', program, ...programArguments]
  const child = spawn(command ?? program, commandArguments, {
    env: { ...environment },
    stdio: ['pipe', output, output],
    detached: !windows,
    windowsHide: true,
  })
  // Writing is never done; a broken pipe only says what `ended` says better.
  child.stdin?.on('error', () => {})
  const ended = endOf(child)
  ended.catch(() => {})
  return {
    pid: child.pid ?? -1,
    ended,
    release: () => (windows ? child.kill() : child.stdin?.destroy()),
    kill: () => {
      if (windows) child.kill('SIGKILL')
      else killGroup(child.pid)
    },
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((settle, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      child.stdin?.destroy()
      settle(signal === null ? `exit code ${code}` : `signal ${signal}`)
    })
  })
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // Already gone.
  }
}
