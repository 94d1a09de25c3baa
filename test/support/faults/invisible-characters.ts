/** Characters that a person who approves a call does not see, or that change how a text reads. */
export const invisibleCharacters: readonly string[] = [
  '\u00AD', // soft hyphen
  '\u034F', // combining grapheme joiner
  '\u115F', // fillers of Hangul
  '\u3164',
  '\uFFA0',
  '\u17B4', // inherent vowel of Khmer
  '\u180B', // variation selectors
  '\uFE00',
  '\uFE0F',
  '\u{E0100}',
  '\u200B', // format characters
  '\u200D',
  '\u202E',
  '\u{E0041}',
  '\u2028', // separators
  '\u2029',
  '\u2065', // not assigned, and ignored by fonts
  '\u2800', // blank pattern of Braille
  '\uE000', // private use
  '\u{F0000}',
]

/** Text with variation selectors that belong to its emoji. */
export const emojiText = '❤️ 1️⃣ #️⃣ 👍🏽 Zoë 漢'
