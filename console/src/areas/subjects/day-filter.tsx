/** A filter by a day of the calendar, kept in the page address. */
import { TextInput } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { useSetFilter } from '#console/ui/filters.tsx'

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Undefined where the address names no day. */
export function useDay(name: string): string | undefined {
  const search = useSearch({ strict: false }) as Readonly<Record<string, unknown>>
  const given = String(search[name] ?? '')
  return DAY.test(given) && !Number.isNaN(Date.parse(given)) ? given : undefined
}

export function DayFilter({ name, label }: { readonly name: string; readonly label: string }) {
  const set = useSetFilter()
  return (
    <TextInput
      size="xs"
      w={150}
      type="date"
      label={label}
      max={new Date().toISOString().slice(0, 10)}
      value={useDay(name) ?? ''}
      onChange={(event) => set(name, event.currentTarget.value || null)}
    />
  )
}
