import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { withAbortListener } from '../../../../common/async/abort.js'
import { ConcurrencyLimit } from '../../../../common/async/concurrency-limit.js'
import { toOneLine } from '../../../../common/text/text.js'
import { ToolError } from '../../../tool-error.js'
import type { ThreadJob, ThreadMessage, ThreadResults } from './jobs.js'

/** Written by the build. The same relative path works from `src` and from `dist`. */
const entry = fileURLToPath(new URL('../../../../../dist/tools/built-in/web-fetch/thread/entry.js', import.meta.url))

const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 }

/** Threads of this process at the same time. */
const threads = new ConcurrencyLimit(2)

const packages = { html: 'parse5-sax-parser', pdf: 'unpdf', robots: 'robots-parser' } as const
const names = { html: 'HTML of the page', pdf: 'PDF of the page', robots: 'robots.txt of the server' } as const

/**
 * Does a job in a thread of its own, which ends with the signal.
 *
 * @throws ToolError for content that can't be read within the limits, and without the package for it; the reason of the
 *   signal
 */
export async function runInThread<Kind extends ThreadJob['kind']>(
  job: ThreadJob & { readonly kind: Kind },
  signal: AbortSignal,
): Promise<ThreadResults[Kind]> {
  const name = names[job.kind]
  const message = await threads.run(() => {
    signal.throwIfAborted()
    return messageOfThread(job, signal).catch((thrown: unknown) => {
      signal.throwIfAborted()
      throw new ToolError(`the ${name} can't be read: ${reasonOf(thrown)}`, { cause: thrown })
    })
  })
  switch (message.type) {
    case 'done':
      // The thread answers a job of a kind with a result of this kind.
      return message.result as ThreadResults[Kind]
    case 'missing': {
      const install = `install it with durable-ptc (npm install ${packages[job.kind]})`
      throw new ToolError(`the ${name} can't be read without package ${packages[job.kind]}: ${install}`)
    }
    case 'failed':
      throw new ToolError(`the ${name} can't be read: ${toOneLine(message.reason)}`)
  }
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'its thread has failed'
  return 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it needs too much memory' : thrown.message
}

/** @throws the reason of the signal; errors of the thread */
async function messageOfThread(job: ThreadJob, signal: AbortSignal): Promise<ThreadMessage> {
  const transferList = job.kind === 'pdf' ? [job.bytes.buffer] : []
  // Neither the environment of the worker nor its Node options: the content may be hostile.
  const options = { resourceLimits, env: {}, execArgv: [], stdout: true, stderr: true }
  const thread = new Worker(entry, { workerData: job, transferList, ...options })
  thread.stdout.resume()
  thread.stderr.resume()
  let onAbort = (): void => undefined
  const message = new Promise<ThreadMessage>((resolve, reject) => {
    onAbort = () => reject(signal.reason as Error)
    thread.once('message', resolve)
    thread.once('error', reject)
    thread.once('exit', () => reject(new Error('its thread has ended')))
  })
  try {
    return await withAbortListener(
      signal,
      () => onAbort(),
      () => message,
    )
  } finally {
    await thread.terminate()
  }
}
