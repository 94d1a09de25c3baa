import {
  Client,
  Connection,
  ScheduleAlreadyRunning,
  type ScheduleClient,
  type ScheduleOptions,
  type ScheduleSpec,
} from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { taskQueue } from './completion.js'
import type { report } from './workflows.js'

const scheduleId = 'daily-report'
const spec: ScheduleSpec = {
  calendars: [{ hour: 6, dayOfWeek: { start: 'MONDAY', end: 'FRIDAY' } }],
  timezone: 'Europe/Berlin',
}
// After an outage of the server, a report is started up to a day late.
const policies: NonNullable<ScheduleOptions['policies']> = { overlap: 'SKIP', catchupWindow: '1 day' }
const action = { type: 'startWorkflow', workflowType: 'report', workflowId: 'report', taskQueue } as const

async function createOrUpdate(schedules: ScheduleClient): Promise<void> {
  try {
    await schedules.create<typeof report>({ scheduleId, spec, policies, action })
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error
    const handle = schedules.getHandle(scheduleId)
    await handle.update<typeof report>(({ state }) => ({ spec, policies, action, state }))
  }
}

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig()
const connection = await Connection.connect(connectionOptions)
try {
  const { schedule: schedules } = new Client({ connection, namespace })
  const [command = 'create'] = process.argv.slice(2)
  if (command === 'now') await schedules.getHandle(scheduleId).trigger()
  else if (command === 'delete') await schedules.getHandle(scheduleId).delete()
  else await createOrUpdate(schedules)
  console.log(`${scheduleId}: ${command}`)
} finally {
  await connection.close()
}
