import { type ChildProcess, spawn } from 'node:child_process'
import type { EnvironmentVariables } from '../platform/cache-directory.js'
import { signalProcessGroup } from '../platform/process-group.js'

/**
 * A shell that runs the server, and ends it when this process closes the shell's standard input: by `terminate`, or
 * because this process was killed. So no server stays behind and locks the database. The umask keeps the database
 * private. The shell has its own process group (`detached`): Ctrl-C reaches only this process, and the worker can
 * finish first.
 */
const supervisorScript = `
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

export interface SupervisedProcess {
  /** Id of the process and, on POSIX, of its process group. */
  readonly pid: number
  /** Resolves with the exit code or signal when the process has ended; rejects when the process did not start. */
  readonly ended: Promise<string>
  /** Asks the process to end. */
  terminate(): void
  /** Ends the process at once. */
  kill(): void
}

/** Starts a program that ends with this process. On Windows, without a shell, it ends only by `terminate` or `kill`. */
export function spawnSupervised(
  program: string,
  programArguments: readonly string[],
  {
    environment,
    output,
  }: { readonly environment: EnvironmentVariables; /** A file descriptor. */ readonly output: number },
): SupervisedProcess {
  const windows = process.platform === 'win32'
  const [command, ...commandArguments] = windows
    ? [program, ...programArguments]
    : ['/bin/sh', '-c', supervisorScript, 'durable-ptc-supervisor', program, ...programArguments]
  const child = spawn(command ?? program, commandArguments, {
    env: { ...environment },
    stdio: ['pipe', output, output],
    detached: !windows,
    windowsHide: true,
  })
  // Nothing is written. `ended` reports the exit, so a broken pipe is ignored.
  child.stdin?.on('error', () => {})
  const ended = exitOf(child)
  ended.catch(() => {})
  return {
    pid: child.pid ?? -1,
    ended,
    terminate: () => (windows ? child.kill() : child.stdin?.destroy()),
    kill: () => signalProcessGroup(child.pid, 'SIGKILL'),
  }
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((settle, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      child.stdin?.destroy()
      settle(signal === null ? `exit code ${code}` : `signal ${signal}`)
    })
  })
}
