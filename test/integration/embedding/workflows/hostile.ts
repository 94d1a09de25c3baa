import {
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  proxyActivities,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  sleep,
  startChild,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow'

type Activity = (...args: unknown[]) => Promise<unknown>
type Activities<Name extends string> = Readonly<Record<Name, Activity>>

const once = { startToCloseTimeout: '1m', retry: { maximumAttempts: 1 } } as const

/** Throws each of the texts in an activity. Returns the texts that the workflow read. */
export async function throwTexts(texts: readonly string[]): Promise<readonly unknown[]> {
  const { throwText } = proxyActivities<Activities<'throwText'>>(once)
  return Promise.all(texts.map((text) => throwText(text).catch(causeOf)))
}

/** Calls the activities with these names, and returns the failure of each. */
export async function throwEach(names: readonly string[]): Promise<readonly unknown[]> {
  const activities = proxyActivities<Activities<string>>({ ...once, heartbeatTimeout: '5s' })
  return Promise.all(names.map(async (name) => activities[name]?.().catch(causeOf)))
}

function causeOf(thrown: unknown): unknown {
  const { cause } = thrown as { readonly cause?: { readonly message?: string; readonly type?: string } }
  return { message: cause?.message, type: cause?.type }
}

/** Puts the text into each text field of the commands of a workflow. */
export async function commands(text: string): Promise<string> {
  const options = { ...once, activityId: text, summary: text, priority: { fairnessKey: text, fairnessWeight: 1 } }
  const { echo } = proxyActivities<Activities<'echo'>>(options)
  await echo(text)
  await proxyActivities<Activities<'echo'>>({
    ...once,
    activityId: `2${text}`,
    taskQueue: text,
    scheduleToStartTimeout: '1ms',
  })
    .echo()
    .catch(() => undefined)
  const activities = proxyActivities<Activities<string>>({ ...once, activityId: `3${text}` })
  await activities[text]?.().catch(() => undefined)
  upsertMemo({ [text]: text })
  setCurrentDetails(text)
  await sleep(1, { summary: text })
  const child = await startChild('waiting', {
    workflowId: `${workflowInfo().workflowId} ${text}`,
    args: [text],
    memo: { [text]: text },
    staticSummary: text,
    staticDetails: text,
    priority: { fairnessKey: text },
  })
  await child.signal(text, text)
  const external = getExternalWorkflowHandle(child.workflowId)
  await external.signal(text, text)
  await external.cancel()
  const ended: unknown = await child.result().catch((thrown: unknown) => thrown)
  await getExternalWorkflowHandle(text)
    .signal(text)
    .catch(() => undefined)
  return String(ended)
}

/** Accepts any signal, and answers updates and queries with failures that have the text. */
export async function waiting(text: string): Promise<void> {
  const fail = (): never => {
    throw ApplicationFailure.create({ message: text, type: text, details: [text], nonRetryable: true })
  }
  setDefaultSignalHandler(() => undefined)
  setHandler(defineSignal('ignored'), () => undefined)
  setHandler(defineUpdate<void>('reject'), () => undefined, { validator: fail })
  setHandler(defineUpdate<void>('fail'), fail)
  setHandler(defineQuery<void>('query'), fail)
  await condition(() => false)
}

/** Fails with the text, in a chain of causes. */
export async function failing(text: string): Promise<void> {
  let cause = new Error(text)
  for (let depth = 0; depth < 1_000; depth++) cause = ApplicationFailure.create({ message: text, type: text, cause })
  throw cause
}
