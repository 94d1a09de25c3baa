// node --import kill-at-failpoint.mjs: the process kills itself with SIGKILL at a failpoint.
// PTC_FAILPOINT: `point#n`, the n-th time the process passes it; absent: never. PTC_FAILPOINT_LOG: a file that gets a
// line for each failpoint the process passes.
import { appendFileSync } from 'node:fs'

const { PTC_FAILPOINT: at = '', PTC_FAILPOINT_LOG: log = '' } = process.env
const hits = new Map()

globalThis[Symbol.for('durable-ptc.failpoint')] = (point) => {
  const times = (hits.get(point) ?? 0) + 1
  hits.set(point, times)
  const isDue = at === `${point}#${times}`
  appendFileSync(log, `${point}#${times}${isDue ? ' crash' : ''}\n`)
  if (isDue) process.kill(process.pid, 'SIGKILL')
}
