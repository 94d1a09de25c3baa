import { readdirSync, readFileSync } from 'node:fs'

/** The user id of a container. Each sandbox has its own. */
export function userOf({ Config }: { readonly Config: { readonly User: string } }): number {
  return Number(Config.User.split(':')[0])
}

/** Processes of this machine, by user id. Includes those of containers of a daemon on this machine. */
export function processesOf(user: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((process) => Number.isInteger(process) && userOfProcess(process) === user)
}

function userOfProcess(process: number): number | undefined {
  try {
    return Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${process}/status`, 'utf8'))?.[1])
  } catch {
    return undefined // the process has ended
  }
}
