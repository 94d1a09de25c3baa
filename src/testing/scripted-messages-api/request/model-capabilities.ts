// Features that only some models have, by model name. A name that is not Claude's counts as the newest model.
const upTo4_5 = /^claude-(3|2|instant|(opus|sonnet|haiku)-4(-[0-5])?(-|$))/
const upTo4_7 = /^claude-(opus|sonnet)-4-[67](-|$)/

/** Whether the model continues a final assistant message. */
export function supportsPrefill(model: string): boolean {
  return upTo4_5.test(model)
}

/** Whether the model accepts `role: 'system'` in the middle of a conversation. */
export function supportsSystemMessages(model: string): boolean {
  return !upTo4_5.test(model) && !upTo4_7.test(model)
}
