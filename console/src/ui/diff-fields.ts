/** Helpers for the items of a difference. Pure. */
import type { FieldChange } from './value-diff.ts'

interface DiffItem {
  readonly op: 'added' | 'removed' | 'changed'
  readonly changes: readonly Pick<FieldChange, 'pointer'>[]
}

/** A field as in the summary: array indexes become *. */
const toFieldPattern = (pointer: string): string => pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*')

export const touchesField = ({ op, changes }: DiffItem, field: string): boolean =>
  op === 'changed' && changes.some(({ pointer }) => toFieldPattern(pointer) === field)

/** An element id from a key with arbitrary characters. */
export const toAnchorId = (key: string): string => `entry-${encodeURIComponent(key)}`
