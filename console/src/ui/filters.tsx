/** Filters of a list, kept in the page address. */
import { Select } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { toSentence } from './format.ts'

/** The value of a search parameter if it is allowed. */
export function useFilter<const V extends readonly string[]>(name: string, allowed: V): V[number] | undefined {
  const search = useSearch({ strict: false }) as Record<string, unknown>
  const value = search[name]
  return allowed.find((one) => one === value)
}

export function useSetFilter(): (name: string, value: string | number | null) => void {
  const navigate = useNavigate()
  return (name, value) =>
    navigate({
      to: '.',
      search: (now: Record<string, unknown>) => ({ ...now, [name]: value ?? undefined }),
      replace: true,
    })
}

/** Sets several filters at once; undefined removes one. */
export function useSetFilters(): (values: Readonly<Record<string, string | undefined>>) => void {
  const navigate = useNavigate()
  return (values) =>
    navigate({ to: '.', search: (now: Record<string, unknown>) => ({ ...now, ...values }), replace: true })
}

interface FilterProps {
  readonly name: string
  readonly label: string
  readonly values: readonly string[]
  readonly everything: string
}

export function Filter({ name, label, values, everything }: FilterProps) {
  const value = useFilter(name, values) ?? null
  const set = useSetFilter()
  return (
    <Select
      size="xs"
      w={170}
      aria-label={label}
      placeholder={everything}
      clearable
      value={value}
      data={values.map((one) => ({ value: one, label: toSentence(one) }))}
      onChange={(chosen) => set(name, chosen)}
      clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
    />
  )
}
