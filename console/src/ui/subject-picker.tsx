/** Chooses a subject by its name. */
import { Select, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { isSubjectId, subjectQuery } from './subject-queries.ts'

const WAIT_MS = 200

interface SubjectPickerProps {
  readonly label: string
  readonly description?: string
  readonly subject_id: string | null
  readonly onChange: (subject_id: string | null) => void
  readonly size?: 'xs' | 'sm'
  readonly width?: number
  readonly isRequired?: boolean
  readonly placeholder?: string
  /** The label is read to people who do not see the screen. */
  readonly isLabelHidden?: boolean
}

interface Named {
  readonly subject_id: string
  readonly name: string
  readonly external_id: string | null
}

const toChoice = ({ subject_id, name, external_id }: Named) => ({
  value: subject_id,
  label: external_id === null ? name : `${name} · ${external_id}`,
})

/** By name where the user may list subjects, otherwise by id. */
export function SubjectPicker(props: SubjectPickerProps) {
  const may = usePermission()
  return may('listSubjects') ? <NamedPicker {...props} /> : <IdField {...props} />
}

function IdField({ label, subject_id, onChange, size = 'sm', width, isRequired = false }: SubjectPickerProps) {
  const [typed, setTyped] = useState(subject_id ?? '')
  return (
    <TextInput
      label={`${label}, by its id`}
      description="You may not list subjects; ask somebody who may for the id."
      size={size}
      required={isRequired}
      error={typed === '' || isSubjectId(typed.trim()) ? null : 'This is not the id of a subject.'}
      {...(width !== undefined && { w: width })}
      value={typed}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value)
        onChange(isSubjectId(value.trim()) ? value.trim() : null)
      }}
    />
  )
}

function NamedPicker(props: SubjectPickerProps) {
  const {
    label,
    description,
    subject_id,
    onChange,
    size = 'sm',
    width,
    isRequired = false,
    isLabelHidden = false,
    placeholder = 'Beginning of a name',
  } = props
  const [typed, setTyped] = useState('')
  const [name] = useDebouncedValue(typed.split(' · ')[0]?.trim() ?? '', WAIT_MS)
  const { data: chosen } = useQuery({
    ...subjectQuery(subject_id ?? ''),
    enabled: isSubjectId(subject_id ?? undefined),
    throwOnError: false,
  })
  const { data: found } = useQuery({
    queryKey: ['subjects', 'picker', name],
    queryFn: ({ signal }) =>
      probity.GET('/api/subjects', { params: { query: { limit: 20, ...(name !== '' && { name }) } }, signal }),
    placeholderData: keepPreviousData,
    throwOnError: false,
  })
  const items = (found?.items ?? []).map(toChoice)
  const isListed = chosen === undefined || items.some(({ value }) => value === chosen.subject_id)
  return (
    <Select
      {...(isLabelHidden ? { 'aria-label': label } : { label })}
      required={isRequired}
      {...(description !== undefined && { description })}
      placeholder={placeholder}
      size={size}
      {...(width !== undefined && { w: width })}
      searchable
      clearable
      nothingFoundMessage="No name has a word that begins like this"
      // The server has searched already.
      filter={({ options }) => options}
      data={isListed ? items : [...items, toChoice(chosen)]}
      value={chosen?.subject_id ?? null}
      searchValue={typed}
      onSearchChange={setTyped}
      onChange={onChange}
      clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
    />
  )
}
