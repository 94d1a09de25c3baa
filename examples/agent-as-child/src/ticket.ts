import { defineSearchAttributeKey } from '@temporalio/common'

export const taskQueue = 'support'

/** A message of a customer. */
export interface Ticket {
  readonly id: string
  readonly customer: string
  readonly text: string
}

/** The search attribute of tickets, and of everything that is started for them. */
export const customerKey = defineSearchAttributeKey('Customer', 'KEYWORD')
