import { defineConfig, defineTool, redisStream } from 'durable-ptc'
import { z } from 'zod'

const getExpenses = defineTool({
  name: 'get_expenses',
  description: 'Travel expenses of one employee (ada, lin or sam), as amounts in EUR.',
  input: z.object({ employee: z.enum(['ada', 'lin', 'sam']) }),
  output: z.array(z.number()),
  effect: 'read',
  run: ({ employee }) => ({ ada: [6200, 140], lin: [1800], sam: [] })[employee],
})

const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket = 'ptc-values', AUDIT_FILE: auditFile } = process.env
const { REDIS_URL: redis, TASK_QUEUE: taskQueue = 'fleet' } = process.env
// The Helm chart sets these when sandboxes are pods.
const { SANDBOX_NAMESPACE: namespace, SANDBOX_IMAGE: image, SANDBOX_RUNTIME_CLASS: runtimeClass } = process.env
const pods = namespace && image ? { namespace, image, ...(runtimeClass && { runtimeClass }) } : undefined

export default defineConfig({
  tools: [getExpenses],
  sandbox: pods ? { backend: 'kubernetes', kubernetes: pods } : { backend: 'docker', warm: 1 },
  // Workers on several hosts share no disk. The AWS SDK finds the credentials.
  values: { store: { kind: 's3', bucket, ...(endpoint && { endpoint, forcePathStyle: true }) } },
  ...(redis && { stream: redisStream({ url: redis }) }),
  ...(auditFile && { audit: { file: auditFile } }),
  taskQueue,
})
