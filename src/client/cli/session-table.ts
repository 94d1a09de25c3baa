import { formatDuration } from '../render/format.js'
import { oneLine } from '../render/neutralise.js'
import type { SessionInfo } from '../sessions/session-info.js'
import { table } from './table.js'

const head = ['NAME', 'OWNER', 'STATE', 'SANDBOX', 'CELLS', 'CALLS', 'USED', 'EXPIRES'] as const

/** Sessions, one a line, under a heading. */
export function sessionTable(sessions: readonly SessionInfo[], now: Date, width: number | undefined): string {
  const rows = sessions.map((session) => [
    oneLine(session.name),
    session.owner,
    session.state,
    session.backend,
    String(session.cells),
    String(session.toolCalls),
    ago(session.lastUsedAt, now),
    expiry(session, now),
  ])
  return table([head, ...rows], width)
}

/** One session, one fact a line. */
export function sessionFacts(session: SessionInfo, now: Date): string {
  const { name, owner, state, backend, createdAt, lastUsedAt, cells, toolCalls, workflowId } = session
  return table(
    [
      ['Session', oneLine(name)],
      ['Owner', owner === 'session' ? 'itself' : `run of type ${owner}`],
      ['State', state],
      ['Sandbox', backend],
      ['Created', `${createdAt.toISOString()} (${ago(createdAt, now)})`],
      ['Used', `${lastUsedAt.toISOString()} (${ago(lastUsedAt, now)})`],
      ['Expires', expiry(session, now)],
      ['Cells', String(cells)],
      ['Tool calls', String(toolCalls)],
      ['Workflow', oneLine(workflowId)],
    ],
    undefined,
  )
}

function ago(time: Date, now: Date): string {
  return `${formatDuration(Math.max(0, now.getTime() - time.getTime()))} ago`
}

function expiry({ expiresAt, owner }: SessionInfo, now: Date): string {
  if (owner !== 'session') return 'with its run'
  if (expiresAt === undefined) return 'not while it is busy'
  return `in ${formatDuration(Math.max(0, expiresAt.getTime() - now.getTime()))}`
}
