/** Legal entity identifiers (ISO 17442): twenty characters, of which the last two are check digits (ISO 7064, MOD 97-10). */

export const LEI_PATTERN = '^[A-Z0-9]{18}[0-9]{2}$'
const SHAPE = new RegExp(LEI_PATTERN)

/** Why a text is not a LEI, as the end of a sentence; null when it is valid. */
export function findLeiFault(text: string): string | null {
  if (!SHAPE.test(text)) return 'is not 18 letters or digits and two check digits'
  // Letters count as 10 to 35. The remainder is computed digit by digit, since the number is too long for a double.
  let remainder = 0
  for (const character of text) {
    const value = Number.parseInt(character, 36)
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder === 1 ? null : 'has wrong check digits'
}
