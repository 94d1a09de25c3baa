import type { ConversationAnswer } from '../../common/runs/conversation.js'
import { incompleteStatusMessages } from '../run/incomplete-status.js'

/** Why a message has no whole answer. */
export function describeEnd({ status, error, isTakenBack }: ConversationAnswer): string {
  const again = isTakenBack ? '; the message was taken back, and can be sent again' : ''
  if (status === 'failed') return `the work on the message failed: ${error?.code}: ${error?.message}${again}`
  if (status === 'interrupted') return 'the work on the message was interrupted'
  return status === 'answered' ? '' : `${incompleteStatusMessages[status]}${again}`
}
