/** Reason codes with their titles from the list of reason codes. */
import { useQuery } from '@tanstack/react-query'
import { LoadingText } from '../loading-text.tsx'
import { listContentQuery } from './list-entries.ts'

export const REASON_CODES = 'reason-codes'

export function ReasonCodes({ of }: { readonly of: readonly string[] }) {
  const { data, isLoading } = useQuery(listContentQuery(REASON_CODES))
  if (isLoading) return <LoadingText />
  const getEntry = (code: string) => data?.entries.find(({ key }) => key === code)?.entry
  return of.map((code, place) => (
    <span key={code} title={`${code}: ${String(getEntry(code)?.['text'] ?? 'no description')}`}>
      {place > 0 && ', '}
      {String(getEntry(code)?.['title'] ?? code)}
    </span>
  ))
}
