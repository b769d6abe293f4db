/** The fields of a report's parameters, by the schema of its template. Objects are chosen by name. */
import { NumberInput, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { formatDateTime } from '#console/ui/date-format.ts'
import { formatResult } from '#console/ui/decision/outcome.tsx'
import { toSentence } from '#console/ui/format.ts'
import { datasetsQuery } from '#console/ui/registry-queries.ts'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { SubjectPicker } from '#console/ui/subject-picker.tsx'

export interface ParameterSchema {
  readonly type?: string
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
}

export interface ParametersSchema {
  readonly properties?: Readonly<Record<string, ParameterSchema>>
  readonly required?: readonly string[]
}

export type ParameterValue = string | number
export type ParameterValues = Readonly<Record<string, ParameterValue>>

/** Those of the template that have a value. */
export const toParameters = (properties: NonNullable<ParametersSchema['properties']>, values: ParameterValues) =>
  Object.fromEntries(
    Object.keys(properties).flatMap((name) =>
      values[name] === undefined || values[name] === '' ? [] : [[name, values[name]]],
    ),
  )

interface ParameterProps {
  readonly name: string
  readonly schema: ParameterSchema
  readonly isRequired: boolean
  readonly value: ParameterValue
  readonly onChange: (value: ParameterValue) => void
  /** The restriction of a chosen case, so that the report belongs to it as well. */
  readonly onRestriction: (restriction_id: string | null) => void
}

export function Parameter(props: ParameterProps) {
  const { name, schema, isRequired, value, onChange } = props
  const may = usePermission()
  const text = value === '' ? null : String(value)
  const choose = (chosen: string | null) => onChange(chosen ?? '')
  if (name === 'subject_id') return <SubjectPicker label="Subject" subject_id={text} onChange={choose} isRequired />
  if (name === 'investigation_id' && may('listInvestigations')) return <CasePicker {...props} />
  if (name === 'evaluation_id' && may('listEvaluations')) return <DecisionPicker chosen={text} onChoose={choose} />
  if (name === 'list_key' && may('listDatasets')) return <ListPicker chosen={text} onChoose={choose} />
  const shared = { label: toSentence(name), description: schema.description, required: isRequired }
  if (schema.type === 'integer')
    return (
      <NumberInput
        {...shared}
        allowDecimal={false}
        {...(schema.minimum !== undefined && { min: schema.minimum })}
        {...(schema.maximum !== undefined && { max: schema.maximum })}
        value={value}
        onChange={onChange}
      />
    )
  return <TextInput {...shared} value={value} onChange={(event) => onChange(event.currentTarget.value.trim())} />
}

const MAX_OFFERED = 100

function CasePicker({ value, onChange, onRestriction }: ParameterProps) {
  const { data } = useQuery({
    queryKey: ['investigations', 'to-report'],
    queryFn: ({ signal }) => probity.GET('/api/investigations', { params: { query: { limit: MAX_OFFERED } }, signal }),
    throwOnError: false,
  })
  const find = (id: string | null) => data?.items.find((one) => one.investigation_id === id)
  const getRestriction = (id: string | null) => (find(id)?.is_restricted ? (find(id)?.restriction_id ?? null) : null)
  return (
    <Select
      label="Case"
      required
      searchable
      nothingFoundMessage="No case has this number or subject"
      data={(data?.items ?? []).map(({ investigation_id, reference, subject, title, state }) => ({
        value: investigation_id,
        label: `${reference} · ${subject.name} · ${title} (${state})`,
      }))}
      value={value === '' ? null : String(value)}
      onChange={(chosen) => {
        onChange(chosen ?? '')
        onRestriction(getRestriction(chosen))
      }}
      renderOption={({ option }) => (
        <span>
          {option.label}
          <RestrictionMark restriction_id={getRestriction(option.value)} />
        </span>
      )}
    />
  )
}

interface PickerProps {
  readonly chosen: string | null
  readonly onChoose: (id: string | null) => void
}

/** The newest decisions, about one subject where one is chosen. */
function DecisionPicker({ chosen, onChoose }: PickerProps) {
  const [subject_id, setSubject] = useState<string | null>(null)
  const { data } = useQuery({
    queryKey: ['evaluations', 'to-report', subject_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/evaluations', {
        params: { query: { limit: MAX_OFFERED, ...(subject_id !== null && { subject_id }) } },
        signal,
      }),
    throwOnError: false,
  })
  const choices = (data?.items ?? []).map((one) => ({
    value: one.evaluation_id,
    label: `${formatDateTime(one.decided_at)}: ${formatResult(one)} by ${one.definition_key}`,
  }))
  const isListed = choices.some(({ value }) => value === chosen)
  return (
    <>
      <SubjectPicker label="Decisions about" placeholder="Any subject" subject_id={subject_id} onChange={setSubject} />
      <Select
        label="Decision"
        required
        searchable
        nothingFoundMessage="No decision of this time or result"
        data={isListed || chosen === null ? choices : [{ value: chosen, label: 'The decision' }, ...choices]}
        value={chosen}
        onChange={onChoose}
      />
    </>
  )
}

function ListPicker({ chosen, onChoose }: PickerProps) {
  const { data } = useQuery({ ...datasetsQuery, throwOnError: false })
  return (
    <Select
      label="List"
      required
      searchable
      nothingFoundMessage="No list has this name"
      data={(data ?? []).map(({ list_key, title }) => ({ value: list_key, label: title }))}
      value={chosen}
      onChange={onChoose}
    />
  )
}
