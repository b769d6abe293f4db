/** Small questions about a difference. Pure. */
import type { FieldChange } from '#console/ui/value-diff.ts'

interface DiffItem {
  readonly op: 'added' | 'removed' | 'changed'
  readonly changes: readonly Pick<FieldChange, 'pointer'>[]
}

/** A field as the summary calls it: any place of an array stands for all. */
const toFieldPattern = (pointer: string): string => pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*')

export const touchesField = ({ op, changes }: DiffItem, field: string): boolean =>
  op === 'changed' && changes.some(({ pointer }) => toFieldPattern(pointer) === field)

/** An id for an entry in the document, from a key that may hold anything. */
export const toAnchorId = (key: string): string => `entry-${encodeURIComponent(key)}`
