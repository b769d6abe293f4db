/** Selects the content coding of a response from Accept-Encoding (RFC 9110, section 12.5.3). Compresses nothing itself. */
export type Coding = 'br' | 'gzip' | 'identity'

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/
/** Below every weight that can be written: plain bytes that are not mentioned are used only when nothing else fits. */
const UNMENTIONED = 0.0001

/** The offered coding with the highest weight, the first of equals; none when the caller refuses all of them. */
export function chooseCoding(header: string | undefined, offered: readonly Coding[]): Coding | undefined {
  const weights = parseWeights(header ?? '')
  const getWeight = (coding: Coding): number =>
    weights.get(coding) ?? weights.get('*') ?? (coding === 'identity' ? UNMENTIONED : 0)
  const [best] = offered.filter((coding) => getWeight(coding) > 0).toSorted((a, b) => getWeight(b) - getWeight(a))
  return best
}

/** A weight that cannot be parsed is ignored. */
function parseWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim())
    const weight = parameters.length === 0 ? '1' : WEIGHT.exec(parameters.join(';'))?.[1]
    if (weight !== undefined) weights.set(name, Number(weight))
  }
  return weights
}
