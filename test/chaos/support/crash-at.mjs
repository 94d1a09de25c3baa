// node --import crash-at.mjs: this process kills itself at a crash point, as kill -9 would.
// PTC_CRASH_AT: `point#n`, the n-th time it comes there; absent: never. PTC_CRASH_LOG: a file that gets a line for each point passed.
import { appendFileSync } from 'node:fs'

const { PTC_CRASH_AT: at = '', PTC_CRASH_LOG: log = '' } = process.env
const passed = new Map()

globalThis[Symbol.for('durable-ptc.crash-point')] = (point) => {
  const times = (passed.get(point) ?? 0) + 1
  passed.set(point, times)
  const isDue = at === `${point}#${times}`
  appendFileSync(log, `${point}#${times}${isDue ? ' crash' : ''}\n`)
  if (isDue) process.kill(process.pid, 'SIGKILL')
}
