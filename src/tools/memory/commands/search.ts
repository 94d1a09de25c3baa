/**
 * The first places at which a text occurs in another one. Occurrences that overlap count, because they make the place
 * of an edit uncertain.
 *
 * The search of Knuth, Morris and Pratt, because that of JavaScript takes the product of both lengths in the worst
 * case: a model could block its worker for a minute.
 *
 * @param searched not empty
 * @param most maximum number of places
 */
export function placesOf(text: string, searched: string, most: number): readonly number[] {
  const places: number[] = []
  const borders = bordersOf(searched)
  let matched = 0
  for (let at = 0; at < text.length && places.length < most; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && searched.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0
    if (searched.charCodeAt(matched) === unit) matched += 1
    if (matched < searched.length) continue
    places.push(at - searched.length + 1)
    matched = borders[matched - 1] ?? 0
  }
  return places
}

/** For each start of the text, the length of the longest end of it that is also its start, and not all of it. */
function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length)
  for (let at = 1, length = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (length > 0 && text.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0
    if (text.charCodeAt(length) === unit) length += 1
    borders[at] = length
  }
  return borders
}
