import { continueAsNew, isCancellation, workflowInfo } from '@temporalio/workflow'
import {
  type AgentResult,
  type CellOutcome,
  openSession,
  type ProgramResult,
  runAgent,
  runProgram,
} from '../../../../src/workflows/blocks/index.js'

/** Executes the cells in one session. */
export async function inSession(cells: readonly string[]): Promise<CellOutcome[]> {
  const session = await openSession()
  try {
    const outcomes: CellOutcome[] = []
    for (const cell of cells) outcomes.push(await session.execute(cell))
    return outcomes
  } finally {
    await session.close()
  }
}

/** Code leaves a file in one session, and code of another session gets it. */
export async function withFiles(): Promise<CellOutcome[]> {
  const leave = 'import os\nos.makedirs("/tmp/out", exist_ok=True)\nopen("/tmp/out/a.txt", "w").write("passed on")'
  const first = await openSession({ files: [] })
  const left = await first.execute(leave)
  await first.close()
  const files = (left.files ?? []).map((file) => ({ ...file, path: '/tmp/in/b.txt' }))
  const second = await openSession({ files })
  const read = await second.execute('print(open("/tmp/in/b.txt").read())')
  await second.close()
  return [left, read]
}

/** Code in a session with a network of its own. */
export async function withNetwork(cell: string, ...allow: readonly string[]): Promise<CellOutcome> {
  const session = await openSession({ network: { allow } })
  const outcome = await session.execute(cell)
  await session.close()
  return outcome
}

/** The same cell in two sessions at once, then in the next execution of the chain. */
export async function inTwoSessions(cell: string, isContinued = false): Promise<CellOutcome[]> {
  const sessions = await Promise.all([openSession(), openSession()])
  const outcomes = await Promise.all(sessions.map((session) => session.execute(cell)))
  await Promise.all(sessions.map((session) => session.close()))
  if (!isContinued) await continueAsNew<typeof inTwoSessions>(cell, true)
  return outcomes
}

/** Executions that were queued when the session was closed, one in an unknown language, and a later one. */
export async function afterClose(): Promise<string[]> {
  const session = await openSession()
  const running = session.execute('import asyncio\nawait asyncio.sleep(3600)')
  const queued = session.execute('print(1)', { language: 'python' })
  const unknown = session.execute('puts 1', { language: 'ruby' })
  await Promise.all([session.close(), unknown.catch(() => undefined)])
  const all = await Promise.allSettled([running, queued, unknown, session.execute('print(2)')])
  return all.map((each) => (each.status === 'rejected' ? String(each.reason.type) : each.value.status))
}

/** Reports how its session ended after a cancellation of the workflow. */
export async function untilCancelled(): Promise<string> {
  const session = await openSession()
  try {
    await session.execute('await hold()')
    return 'completed'
  } catch (thrown) {
    return isCancellation(thrown) ? 'cancelled' : 'failed'
  } finally {
    await session.close()
  }
}

export async function childRuns(question: string, source: string): Promise<[AgentResult, ProgramResult]> {
  return Promise.all([runAgent({ question }), runProgram({ source })])
}

export async function inInvalidSandbox(): Promise<CellOutcome> {
  const session = await openSession({ sandbox: 'No/where' })
  try {
    return await session.execute('print(1)')
  } finally {
    await session.close()
  }
}

/** Returns the id of the child. */
export async function childProgram(): Promise<string> {
  const childId = `${workflowInfo().workflowId}.child`
  await runProgram({ source: 'print(1)' }, { workflowId: childId })
  return childId
}

/** An agent as a child, and a session, both for a tenant and with the same tools. */
export async function forTenant(tenant: string): Promise<[AgentResult, CellOutcome]> {
  const session = await openSession({ context: { tenant }, tools: ['whoami'], input: [3, 4] })
  try {
    const outcome = await session.execute('print(await whoami(), sum(input_data))')
    return [await runAgent({ question: 'who?', agent: 'clerk', context: { tenant }, input: [1, 2] }), outcome]
  } finally {
    await session.close()
  }
}
