import { z } from 'zod'
import type { DataFlowOption } from '../../../src/config/options/data-flow.js'
import type { JsonObject } from '../../../src/common/json/json.js'
import { defineTool, type ToolDefinition } from '../../../src/index.js'
import { tool } from '../../support/tools.js'

export const secret = '078-05-1120'

interface LeakOptions {
  /** Null: none. */
  readonly labels?: ToolDefinition<z.ZodObject, z.ZodType>['labels'] | null
  readonly returns?: JsonObject
}

/** A tool that returns personal data, one that sends what it gets out of the company, and the rule between them. */
export function leakTools({ labels = ['pii'], returns = { name: 'Ann', ssn: secret } }: LeakOptions = {}) {
  const sent: string[] = []
  const getCustomer = tool('get_customer', () => returns, {
    ...(labels && { labels }),
    allowedCallers: ['direct', 'code_execution'],
  })
  const send = defineTool({
    name: 'send',
    description: 'Sends a text.',
    input: z.object({ text: z.string() }),
    output: z.string(),
    effect: 'once',
    allowedCallers: ['direct', 'code_execution'],
    run: ({ text: each }) => {
      sent.push(each)
      return 'sent'
    },
  })
  return { tools: [getCustomer, send], sent }
}

export const denySend: DataFlowOption = { rules: [{ labels: ['pii'], tools: ['send'], action: 'deny' }] }

export const refusal = 'a rule of the configuration denies data labelled pii (get_customer in turn 1) to send'
