import { z } from 'zod'
import { isDataLabel, maxLabelsOfResult } from '../../common/calls/data-flow.js'
import { credentialNamePattern } from '../credentials/credential-source.js'
import { type Duration, parseDuration } from '../../common/text/duration.js'

/** Schemas of Temporal's options in the definition of a tool, for input from outside. */

/** A positive duration of at most 24 days, in milliseconds. */
export const milliseconds = z.custom<Duration>().transform((duration, context) => {
  const ms = parseDuration(duration)
  if (ms !== undefined) return ms
  context.addIssue("must be milliseconds or text such as '30s', above 0 and at most 24 days")
  return z.NEVER
})

/** Temporal's limit is 1,000 bytes; names of the server's own queues begin with `/_sys/`. */
export const taskQueueName = z
  .string()
  .min(1)
  .max(200)
  .refine((name) => !name.startsWith('/_sys/'), 'is the name of a task queue of the server')

/** Name of an activity type, a workflow type, or a Nexus endpoint, service or operation. */
export const typeName = z.string().min(1).max(200)

/** Temporal's limits: priorities 1 to 5, keys of at most 64 bytes. */
export const priority = z.strictObject({
  priorityKey: z.int().min(1).max(5).optional(),
  fairnessKey: z
    .union([
      z
        .string()
        .min(1)
        .refine((key) => Buffer.byteLength(key) <= 64, 'is over 64 bytes'),
      z.strictObject({ context: z.string().min(1) }),
    ])
    .optional(),
})

/** The limiter of a tool keeps a record of each call in progress. */
export const concurrency = z.int().min(1).max(1_000)

export const credentialNames = z
  .array(z.string().regex(credentialNamePattern, 'must be a name of letters, digits, "_" and "-"'))
  .max(20)

/** Labels of data. */
export const dataLabels = z
  .array(z.string().refine(isDataLabel, 'must be a label: a letter, then at most 63 letters, digits, "_", "." and "-"'))
  .min(1)
  .max(maxLabelsOfResult)

export const rate = z.strictObject({ perSecond: z.number().min(0.01).max(100_000) })
