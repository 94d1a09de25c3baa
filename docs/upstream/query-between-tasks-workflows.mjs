import { condition, defineQuery, defineSignal, proxyActivities, setHandler, sleep } from '@temporalio/workflow'

const { step } = proxyActivities({ startToCloseTimeout: '1 minute' })

/** Sets its timer again as long as the time has not come, as code does whose deadline may be moved. */
export async function alarm(ms) {
  const finish = defineSignal('finish')
  let isFinished = false
  setHandler(defineQuery('state'), () => 'waiting')
  setHandler(finish, () => {
    isFinished = true
  })
  const at = Date.now() + ms
  await sleep(ms)
  while (Date.now() < at) await sleep(Math.max(at - Date.now(), 1))
  await step()
  await condition(() => isFinished)
}
