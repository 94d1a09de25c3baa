/** The type of a media type without its parameters, in small letters: `application/json`. */
export function plainType(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase()
}

export function isJsonType(mediaType: string): boolean {
  const type = plainType(mediaType)
  return type === 'application/json' || type === 'text/json' || type.endsWith('+json')
}
