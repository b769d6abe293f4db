/** Small questions about a difference. Pure. */
import type { Change } from '../../ui/text-changes.ts'

interface Differing {
  readonly op: 'added' | 'removed' | 'changed'
  readonly changes: readonly Pick<Change, 'pointer'>[]
}

/** A field as the summary calls it: any place of an array stands for all. */
const generalOf = (pointer: string): string => pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*')

export const touchesField = ({ op, changes }: Differing, field: string): boolean =>
  op === 'changed' && changes.some(({ pointer }) => generalOf(pointer) === field)

/** An id for an entry in the document, from a key that may hold anything. */
export const anchorOf = (key: string): string => `entry-${encodeURIComponent(key)}`
