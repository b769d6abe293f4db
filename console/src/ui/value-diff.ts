/** Fine-grained differences between two values. Pure. */

export interface FieldChange {
  readonly pointer: string
  readonly before?: unknown
  readonly after?: unknown
}
export interface TextPiece {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}
export interface ItemChange {
  readonly kind: TextPiece['kind']
  readonly value: unknown
}

const MAX_CELLS = 250_000

/** The longest common subsequence from the front: kept, removed and added items. */
function diffSequences<T>(before: readonly T[], after: readonly T[], same: (a: T, b: T) => boolean) {
  const [rows, columns] = [before.length + 1, after.length + 1]
  if (rows * columns > MAX_CELLS) return null
  const lengths = Array.from({ length: rows }, () => new Uint32Array(columns))
  const at = (row: number, column: number) => lengths[row]?.[column] ?? 0
  for (let row = rows - 2; row >= 0; row--) {
    for (let column = columns - 2; column >= 0; column--) {
      const fits = same(before[row] as T, after[column] as T)
      const line = lengths[row] as Uint32Array
      line[column] = fits ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const steps: { kind: TextPiece['kind']; value: T }[] = []
  let [row, column] = [0, 0]
  while (row < before.length || column < after.length) {
    if (row < before.length && column < after.length && same(before[row] as T, after[column] as T)) {
      steps.push({ kind: 'same', value: after[column] as T })
      row++
      column++
    } else if (column >= after.length || (row < before.length && at(row + 1, column) >= at(row, column + 1))) {
      steps.push({ kind: 'removed', value: before[row++] as T })
    } else {
      steps.push({ kind: 'added', value: after[column++] as T })
    }
  }
  return steps
}

const splitWords = (text: string): string[] => text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? []

/** Compares two texts by word; null if they have too little in common. */
export function diffTexts(before: string, after: string): TextPiece[] | null {
  const steps = diffSequences(splitWords(before), splitWords(after), (a, b) => a === b)
  if (steps === null) return null
  const common = steps.filter(({ kind, value }) => kind === 'same' && value.trim() !== '')
  const kept = common.reduce((sum, { value }) => sum + value.length, 0)
  if (kept * 3 < Math.max(before.length, after.length)) return null
  const pieces: { kind: TextPiece['kind']; text: string }[] = []
  for (const { kind, value } of steps) {
    const last = pieces.at(-1)
    if (last?.kind === kind) last.text += value
    else pieces.push({ kind, text: value })
  }
  return pieces
}

const asText = (value: unknown): string => JSON.stringify(value) ?? ''

/** Compares two arrays by item. */
export const diffLists = (before: readonly unknown[], after: readonly unknown[]): readonly ItemChange[] =>
  diffSequences(before, after, (a, b) => asText(a) === asText(b)) ?? [
    ...before.map((value) => ({ kind: 'removed' as const, value })),
    ...after.map((value) => ({ kind: 'added' as const, value })),
  ]

/** The members in which two entries differ, for entries that the server does not compare. */
export function diffMembers(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): FieldChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return names
    .filter((name) => asText(before[name]) !== asText(after[name]))
    .map((name) => ({
      pointer: `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      ...(name in before && { before: before[name] }),
      ...(name in after && { after: after[name] }),
    }))
}
