/** Reads pasted or dropped sample payloads: one JSON document, one on each line, or one XML document. Pure. */

export type Samples =
  | { readonly kind: 'json'; readonly payloads: readonly unknown[] }
  | { readonly kind: 'xml'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly message: string }

const parse = (text: string): { readonly value: unknown } | null => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}

function readText(text: string): readonly unknown[] | null {
  const whole = parse(text)
  if (whole) return [whole.value]
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parse)
  return lines.length > 1 && lines.every((line) => line !== null) ? lines.map(({ value }) => value) : null
}

/** Each text is a file or what was pasted. */
export function readSamples(texts: readonly string[]): Samples {
  const given = texts.filter((text) => text.trim() !== '')
  if (given.length === 0) return { kind: 'unreadable', message: 'Paste at least one payload, or choose a file.' }
  const isXml = (text: string): boolean => text.trimStart().startsWith('<')
  if (given.some(isXml)) {
    const [text = ''] = given
    if (given.length > 1) return { kind: 'unreadable', message: 'Only one XML document can be used at a time.' }
    return { kind: 'xml', text }
  }
  const payloads: unknown[] = []
  for (const [place, text] of given.entries()) {
    const read = readText(text)
    if (read === null)
      return {
        kind: 'unreadable',
        message: `Sample ${place + 1} is neither a JSON document nor one JSON document on each line.`,
      }
    payloads.push(...read)
  }
  return { kind: 'json', payloads }
}
