/** The value of a JSON text, or the text itself: answers and requests of providers have either. */
export function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
