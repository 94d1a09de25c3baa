/* Ids of tool uses: nine letters or digits, which the APIs of all vendors accept. Mistral accepts no others. */

export const idCharacters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
export const idLength = 9

const idPattern = /^[A-Za-z0-9]{9}$/

export function isToolUseId(id: unknown): id is string {
  return typeof id === 'string' && idPattern.test(id)
}
