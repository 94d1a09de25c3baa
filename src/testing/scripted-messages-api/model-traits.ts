// What the API refuses for some models only, by their names. A name that is not Claude's counts as the newest.
const upTo45 = /^claude-(3|2|instant|(opus|sonnet|haiku)-4(-[0-5])?(-|$))/
const upTo47 = /^claude-(opus|sonnet)-4-[67](-|$)/

/** Does the model continue a final assistant message? */
export function takesPrefill(model: string): boolean {
  return upTo45.test(model)
}

/** Does the model take `role: 'system'` in the middle of a conversation? */
export function takesSystemMessages(model: string): boolean {
  return !upTo45.test(model) && !upTo47.test(model)
}
