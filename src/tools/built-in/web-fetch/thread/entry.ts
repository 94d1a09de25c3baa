// A thread that does one job on hostile content, and ends. The content costs the thread its time limit, and never the
// event loop of the worker.
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../../../common/errors.js'
import { hasErrorCode } from '../../../../common/system-error.js'
import { limitBuffers } from './limit-buffers.js'
import type { ThreadJob, ThreadMessage, ThreadResults } from './jobs.js'

/** A stream of a PDF is decompressed into one buffer. */
const maxBufferBytes = 64 * 1024 * 1024

async function perform(job: ThreadJob): Promise<ThreadResults[ThreadJob['kind']]> {
  switch (job.kind) {
    case 'html': {
      const { htmlToText } = await import('../content/html-text.js')
      return htmlToText(job.html, job.base, job.maxCharacters)
    }
    case 'pdf': {
      limitBuffers(maxBufferBytes)
      const { pdfToText } = await import('../content/pdf-text.js')
      return pdfToText(job.bytes, job.maxCharacters)
    }
    case 'robots': {
      const { allowsUrl } = await import('../content/robots-rules.js')
      return allowsUrl(job.rules, job.url, job.userAgent)
    }
  }
}

async function messageFor(job: ThreadJob): Promise<ThreadMessage> {
  try {
    return { type: 'done', result: await perform(job) }
  } catch (thrown) {
    if (hasErrorCode(thrown, 'ERR_MODULE_NOT_FOUND')) return { type: 'missing' }
    return { type: 'failed', reason: messageOf(thrown) }
  }
}

parentPort?.postMessage(await messageFor(workerData as ThreadJob), [])
