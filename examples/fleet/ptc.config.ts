import { defineConfig, defineTool } from 'durable-ptc'
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

export default defineConfig({
  tools: [getExpenses],
  sandbox: { backend: 'docker', warm: 1 },
  // Workers on several hosts share no disk. The AWS SDK finds the credentials.
  values: { store: { kind: 's3', bucket, ...(endpoint && { endpoint, forcePathStyle: true }) } },
  ...(auditFile && { audit: { file: auditFile } }),
  taskQueue: 'fleet',
})
