import type { ConversationAnswer } from '../../common/conversation/conversation.js'
import { incompleteStatusMessages } from '../run/incomplete-status.js'

/** Describes why a message has no complete answer. */
export function describeEnd({ status, error, isTakenBack }: ConversationAnswer): string {
  const again = isTakenBack ? '; the message was taken back, and can be sent again' : ''
  if (status === 'failed') return `the work on the message failed: ${error?.code}: ${error?.message}${again}`
  if (status === 'interrupted') return 'the work on the message was interrupted'
  return status === 'answered' ? '' : `${incompleteStatusMessages[status]}${again}`
}
