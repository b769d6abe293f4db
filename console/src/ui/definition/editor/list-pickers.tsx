/** Pickers for a list, a field of a list and an entry of a list. A stored value that no longer exists stays visible. */
import { Autocomplete, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { listContentQuery } from '#console/ui/decision/list-entries.ts'
import { pickListPerKey } from '#console/ui/list-choices.ts'
import { datasetsQuery, typeQuery } from '#console/ui/registry-queries.ts'
import { getEntryName, getFieldTitle, listMembers } from '#console/ui/type-texts.ts'

interface PickerProps {
  readonly label: string
  readonly description?: string
  readonly value: string
  readonly error?: string | undefined
  readonly onChange: (value: string) => void
}

interface Choice {
  readonly value: string
  readonly label: string
}

const includeCurrent = (choices: readonly Choice[], written: string): Choice[] =>
  written === '' || choices.some(({ value }) => value === written)
    ? [...choices]
    : [...choices, { value: written, label: written }]

const toChoice = (value: string, name: string | null): Choice => ({
  value,
  label: name === null || name === value ? value : `${value} · ${name}`,
})

const useLists = () => useQuery({ ...datasetsQuery, staleTime: 60_000, throwOnError: false }).data ?? []

export function ListPicker({ label, description, value, error, onChange }: PickerProps) {
  const lists = pickListPerKey(useLists().filter(({ state }) => state === 'live'))
  const choices = lists.map(({ list_key, title }) => toChoice(list_key, title))
  return (
    <Select
      label={label}
      {...(description !== undefined && { description })}
      placeholder="Choose a list"
      searchable
      limit={100}
      nothingFoundMessage="No matching list."
      data={includeCurrent(choices, value)}
      value={value === '' ? null : value}
      error={error}
      onChange={(chosen) => chosen !== null && onChange(chosen)}
    />
  )
}

interface OfListProps extends PickerProps {
  readonly list_key: string
}

/** `keyWords`: label of the option for the key itself, which is stored as no field. */
export function FieldPicker(props: OfListProps & { readonly keyWords?: string }) {
  const { list_key, label, description, value, error, onChange, keyWords } = props
  const type_key = pickListPerKey(useLists()).find((list) => list.list_key === list_key)?.type_key ?? ''
  const { data: type } = useQuery({ ...typeQuery(type_key), enabled: type_key !== '', throwOnError: false })
  const fields = type ? listMembers(type).map((name) => toChoice(name, getFieldTitle(type, `/${name}`))) : []
  return (
    <Select
      label={label}
      {...(description !== undefined && { description })}
      placeholder={keyWords ?? 'Choose a field'}
      searchable
      clearable={keyWords !== undefined}
      clearButtonProps={{ 'aria-label': `${label}: ${keyWords}` }}
      nothingFoundMessage="The list has no such field."
      data={includeCurrent(fields, value)}
      value={value === '' ? null : value}
      error={error}
      onChange={(chosen) => (chosen !== null || keyWords !== undefined) && onChange(chosen ?? '')}
    />
  )
}

/** An entry by its key: selected if the list is short enough to load, otherwise typed. */
export function EntryPicker({ list_key, label, value, error, onChange }: OfListProps) {
  const { data, isLoading } = useQuery({ ...listContentQuery(list_key), enabled: list_key !== '' })
  const choices = (data?.entries ?? []).map(({ key, entry }) => toChoice(key, getEntryName(entry)))
  // Switching the kind of field during editing would lose the text.
  if (!isLoading && data?.isWhole !== true) {
    return (
      <Autocomplete
        label={label}
        limit={50}
        data={choices.map((choice) => choice.value)}
        value={value}
        error={error}
        onChange={onChange}
      />
    )
  }
  return (
    <Select
      label={label}
      placeholder="Choose an entry"
      disabled={isLoading}
      searchable
      limit={100}
      nothingFoundMessage="The list has no such entry."
      data={includeCurrent(choices, value)}
      value={value === '' ? null : value}
      error={error}
      onChange={(chosen) => chosen !== null && onChange(chosen)}
    />
  )
}
