/** Reason codes in the words of the list that explains them; the code itself where the list does not have it. */
import { useQuery } from '@tanstack/react-query'
import { listContentQuery } from './list-entries.ts'

export const REASON_CODES = 'reason-codes'

export function ReasonCodes({ of }: { readonly of: readonly string[] }) {
  const { data } = useQuery(listContentQuery(REASON_CODES))
  const entryOf = (code: string) => data?.entries.find(({ key }) => key === code)?.entry
  return of.map((code, place) => (
    <span key={code} title={`${code}: ${String(entryOf(code)?.['text'] ?? 'not explained')}`}>
      {place > 0 && ', '}
      {String(entryOf(code)?.['title'] ?? code)}
    </span>
  ))
}
