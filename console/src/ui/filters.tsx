/** Filters of a list, kept in the page address. */
import { Alert, Anchor, Select } from '@mantine/core'
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
export function useSetFilters(): (values: Readonly<Record<string, string | number | undefined>>) => void {
  const navigate = useNavigate()
  return (values) =>
    navigate({ to: '.', search: (now: Record<string, unknown>) => ({ ...now, ...values }), replace: true })
}

/** The address names a value that does not exist: the rows are not filtered by it. False: there is nothing to say. */
export const describeUnknown = (given: string | undefined): string | false =>
  given !== undefined && `There is no “${given}”: not filtered.`

interface FilterProps {
  readonly name: string
  readonly label: string
  readonly values: readonly string[]
  readonly everything: string
  readonly width?: number
}

export function Filter({ name, label, values, everything, width = 170 }: FilterProps) {
  const value = useFilter(name, values) ?? null
  const given = (useSearch({ strict: false }) as Record<string, unknown>)[name]
  const isUnknown = given !== undefined && given !== '' && value === null
  const set = useSetFilter()
  return (
    <Select
      size="xs"
      w={width}
      label={label}
      placeholder={everything}
      clearable
      value={value}
      error={describeUnknown(isUnknown ? String(given) : undefined)}
      data={values.map((one) => ({ value: one, label: toSentence(one) }))}
      onChange={(chosen) => set(name, chosen)}
      clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
    />
  )
}

export interface Choice {
  readonly value: string
  readonly label: string
}

interface KnownFilterProps {
  readonly name: string
  readonly label: string
  /** Undefined while they are loaded. */
  readonly choices: readonly Choice[] | undefined
  readonly everything: string
}

/** Finds the choice that an address means, whatever its case: people type addresses too. */
export const findChoice = (choices: readonly Choice[], given: string): Choice | undefined =>
  choices.find(({ value }) => value === given) ??
  choices.find(({ value, label }) => [value, label].some((one) => one.toLowerCase() === given.toLowerCase()))

/** The chosen value, or the text of the address that is none of the choices. */
export function useKnownFilter(name: string, choices: readonly Choice[] | undefined) {
  const search = useSearch({ strict: false }) as Record<string, unknown>
  const given = search[name] === undefined || search[name] === '' ? undefined : String(search[name])
  const found = given === undefined ? undefined : findChoice(choices ?? [], given)
  return {
    value: found?.value,
    unknown: given !== undefined && choices !== undefined && !found ? given : undefined,
    isPending: given !== undefined && choices === undefined,
  }
}

/** A choice of values that occur. */
export function KnownFilter({ name, label, choices, everything }: KnownFilterProps) {
  const { value } = useKnownFilter(name, choices)
  const set = useSetFilter()
  return (
    <Select
      size="xs"
      w={150}
      label={label}
      placeholder={everything}
      clearable
      searchable={(choices ?? []).length > 8}
      value={value ?? null}
      data={choices ?? []}
      onChange={(chosen) => set(name, chosen)}
      clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
    />
  )
}

/** Said instead of the rows, because rows without the filter would look like its result. */
export function UnknownFilter({
  name,
  word,
  given,
}: {
  readonly name: string
  readonly word: string
  readonly given: string
}) {
  const set = useSetFilter()
  return (
    <Alert color="yellow" role="alert" title={`There is no ${word} “${given}”`} mb="sm">
      Choose one from the list, or{' '}
      <Anchor component="button" type="button" inherit onClick={() => set(name, null)}>
        remove the filter
      </Anchor>
      .
    </Alert>
  )
}
