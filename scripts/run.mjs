// Runs programs of this checkout from the entry scripts.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root, stop } from './setup.mjs'

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Runs a program of this checkout with Node, forwards signals, and returns its exit code as a shell does. */
export function runNode(script, programArguments) {
  const path = join(root, script)
  if (!existsSync(path)) stop(`${script} is missing; this checkout is not complete.`)
  const child = spawn(process.execPath, [path, ...programArguments], { stdio: 'inherit' })
  for (const signal of forwarded) {
    // The terminal also sends Ctrl-C to the child. This process only has to outlive it.
    process.on(signal, () => signal === 'SIGINT' || child.kill(signal))
  }
  return new Promise((settle) => {
    child.once('error', (error) => stop(error.message))
    child.once('exit', (code, signal) => settle(code ?? (signal === 'SIGINT' ? 130 : 143)))
  })
}
