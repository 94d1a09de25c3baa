import { formatDuration } from '../../../common/text/format.js'
import { oneLine } from '../text/sanitize.js'
import type { SessionInfo } from '../../../client/sessions/session-info.js'
import { renderColumns } from './column-table.js'

const heading = ['NAME', 'OWNER', 'STATE', 'SANDBOX', 'CELLS', 'CALLS', 'USED', 'EXPIRES'] as const

export function renderSessionTable(sessions: readonly SessionInfo[], now: Date, width: number | undefined): string {
  const rows = sessions.map((session) => [
    oneLine(session.name),
    session.owner,
    session.state,
    session.backend,
    String(session.cells),
    String(session.toolCalls),
    formatAgo(session.lastUsedAt, now),
    formatExpiry(session, now),
  ])
  return renderColumns([heading, ...rows], width)
}

/** The details of one session, one per line. */
export function renderSessionDetails(session: SessionInfo, now: Date): string {
  const { name, owner, state, backend, createdAt, lastUsedAt, cells, toolCalls, workflowId } = session
  return renderColumns(
    [
      ['Session', oneLine(name)],
      ['Owner', owner === 'session' ? 'itself' : `run of type ${owner}`],
      ['State', state],
      ['Sandbox', backend],
      ['Created', `${createdAt.toISOString()} (${formatAgo(createdAt, now)})`],
      ['Used', `${lastUsedAt.toISOString()} (${formatAgo(lastUsedAt, now)})`],
      ['Expires', formatExpiry(session, now)],
      ['Cells', String(cells)],
      ['Tool calls', String(toolCalls)],
      ['Workflow', oneLine(workflowId)],
    ],
    undefined,
  )
}

function formatAgo(time: Date, now: Date): string {
  return `${formatDuration(Math.max(0, now.getTime() - time.getTime()))} ago`
}

function formatExpiry({ expiresAt, owner }: SessionInfo, now: Date): string {
  if (owner !== 'session') return 'with its run'
  if (expiresAt === undefined) return 'not while it is busy'
  return `in ${formatDuration(Math.max(0, expiresAt.getTime() - now.getTime()))}`
}
