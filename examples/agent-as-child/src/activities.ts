/** Activities that this worker had before. */

export async function sendReply(ticket: string, reply: string): Promise<void> {
  console.log(`reply to ${ticket}: ${reply}`)
}

export async function refund(order: string, euros: number): Promise<string> {
  return `${euros} EUR for ${order}`
}

export async function reopen(ticket: string, reason: string): Promise<void> {
  console.log(`${ticket} is open again: ${reason}`)
}
