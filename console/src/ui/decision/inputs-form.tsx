/** A form built from the declared inputs of a definition, with errors at their field. */
import {
  Autocomplete,
  Input,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { groupDigits } from '../format.ts'
import { formatEntryValue, getEntryName } from '../type-texts.ts'
import { type Input as DeclaredInput, isListValue, toPointer } from './definition-model.ts'
import { listContentQuery } from './list-entries.ts'

export type Inputs = Readonly<Record<string, unknown>>

interface InputsFormProps {
  readonly inputs: readonly DeclaredInput[]
  readonly values: Inputs
  readonly onChange: (values: Inputs) => void
  /** Errors by pointer into the inputs. */
  readonly faults?: readonly { readonly pointer: string; readonly message: string }[]
  /** Values used for empty inputs, such as the attributes of the subject. */
  readonly known?: Inputs
  /** Marks the inputs without which nothing can be decided. */
  readonly marksRequired?: boolean
}

export function InputsForm(props: InputsFormProps) {
  const { inputs, values, onChange, faults = [], known = {}, marksRequired = false } = props
  const set = (name: string, value: unknown) => {
    const { [name]: _, ...rest } = values
    onChange(value === undefined || value === '' ? rest : { ...rest, [name]: value })
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
      {inputs.map((input) => {
        const at = toPointer(input.name)
        const fault = faults.find(({ pointer }) => pointer === at || pointer.startsWith(`${at}/`))
        return (
          <InputField
            key={input.name}
            input={input}
            value={values[input.name]}
            known={known[input.name]}
            error={fault?.message}
            isRequired={marksRequired && input.default === undefined && known[input.name] === undefined}
            onChange={(value) => set(input.name, value)}
          />
        )
      })}
    </SimpleGrid>
  )
}

interface InputFieldProps {
  readonly input: DeclaredInput
  readonly value: unknown
  readonly known?: unknown
  readonly error: string | undefined
  readonly isRequired?: boolean
  readonly onChange: (value: unknown) => void
}

export function InputField(props: InputFieldProps) {
  const { input } = props
  if (input.one_of) return <ChosenFromList {...props} list_key={input.one_of.list_key} />
  const choices = (input.values ?? []).map((value) => ({ value, label: value }))
  return <PlainField {...props} choices={choices} isOpen={false} />
}

/** Values from a list, offered with their names if the list is short enough to load. */
function ChosenFromList({ list_key, ...props }: InputFieldProps & { readonly list_key: string }) {
  const { data, isPending } = useQuery(listContentQuery(list_key))
  const field = props.input.one_of?.field
  const choices = (data?.entries ?? []).map(({ key, entry }) => {
    const value = field === undefined ? key : String(entry[field])
    const name = getEntryName(entry)
    return { value, label: name === null || name === value ? value : `${value} · ${name}` }
  })
  const distinct = [...new Map(choices.map((choice) => [choice.value, choice])).values()]
  // Which control fits is known when the list is loaded; replacing one that is in use would lose what was entered.
  return <PlainField {...props} choices={distinct} isOpen={data?.isWhole !== true} isLoading={isPending} />
}

interface Choice {
  readonly value: string
  readonly label: string
}

interface PlainFieldProps extends InputFieldProps {
  readonly choices: readonly Choice[]
  /** Values that are not offered may be entered. */
  readonly isOpen: boolean
  readonly isLoading?: boolean
}

function PlainField(props: PlainFieldProps) {
  const { input, value, error, onChange, choices, isOpen, isLoading = false } = props
  const fieldProps = { ...describeInput(props), disabled: isLoading, ...(error !== undefined && { error }) }
  switch (input.type) {
    case 'boolean':
      return <YesNo {...props} />
    case 'integer':
      return (
        <NumberInput
          {...fieldProps}
          allowDecimal={false}
          value={typeof value === 'number' ? value : ''}
          onChange={(typed) => onChange(typeof typed === 'number' ? typed : undefined)}
        />
      )
    case 'list':
      return (
        <MultiSelect
          {...fieldProps}
          searchable
          limit={100}
          data={withChosen(choices, Array.isArray(value) ? (value as string[]) : [])}
          value={Array.isArray(value) ? (value as string[]) : []}
          onChange={(chosen) => onChange(chosen.length === 0 && input.default === undefined ? undefined : chosen)}
        />
      )
    case 'enum':
      return isOpen ? (
        <Autocomplete
          {...fieldProps}
          limit={50}
          data={choices.map((choice) => choice.value)}
          value={toText(value)}
          onChange={onChange}
        />
      ) : (
        <Select
          {...fieldProps}
          searchable={choices.length > 8}
          clearable
          limit={300}
          data={withChosen(choices, value === undefined ? [] : [toText(value)])}
          value={value === undefined ? null : toText(value)}
          onChange={(chosen) => onChange(chosen ?? undefined)}
        />
      )
    default:
      return (
        <TextInput
          {...fieldProps}
          type={input.type === 'date' ? 'date' : 'text'}
          {...(input.type === 'decimal' && { inputMode: 'decimal' as const })}
          autoComplete="off"
          value={toText(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
          onBlur={() => input.type === 'decimal' && onChange(removeGrouping(toText(value)))}
        />
      )
  }
}

/** `1,250,000.50` → `1250000.50`: people copy amounts with separators. */
export const removeGrouping = (text: string): string =>
  /^-?\d{1,3}([ ,'’]\d{3})+(\.\d+)?$/.test(text.trim()) ? text.replaceAll(/[ ,'’]/g, '') : text

const toText = (value: unknown): string => (value === undefined || value === null ? '' : String(value))

/** Keeps a chosen value visible even if it is not among the choices. */
const withChosen = (choices: readonly Choice[], chosen: readonly string[]): Choice[] => [
  ...choices,
  ...chosen.filter((one) => !choices.some(({ value }) => value === one)).map((one) => ({ value: one, label: one })),
]

function describeInput({ input, known, isRequired = false }: InputFieldProps) {
  const notes = [
    input.description,
    input.minimum !== undefined && input.maximum !== undefined && `${input.minimum} to ${input.maximum}`,
    input.default !== undefined && !isListValue(input.default) && `${formatInputValue(input.default)} by default`,
  ].filter((note): note is string => typeof note === 'string')
  return {
    label: input.unit ? `${input.title}, in ${input.unit}` : input.title,
    ...(notes.length > 0 && { description: notes.join(' · ') }),
    withAsterisk: isRequired,
    ...(known !== undefined && { placeholder: `${formatInputValue(known)} (from the subject)` }),
  }
}

const formatInputValue = (value: unknown): string =>
  Array.isArray(value) ? (value.length === 0 ? 'none' : value.join(', ')) : String(value)

function YesNo(props: InputFieldProps) {
  const id = useId()
  const { label, description, withAsterisk } = describeInput(props)
  const { value, error, onChange } = props
  return (
    <Input.Wrapper
      label={label}
      withAsterisk={withAsterisk}
      labelElement="div"
      labelProps={{ id }}
      {...(description !== undefined && { description })}
      {...(error !== undefined && { error })}
    >
      <div>
        <SegmentedControl
          size="xs"
          mt={4}
          aria-labelledby={id}
          value={value === undefined ? 'none' : value ? 'yes' : 'no'}
          onChange={(chosen) => onChange(chosen === 'none' ? undefined : chosen === 'yes')}
          data={[
            { value: 'none', label: 'not given' },
            { value: 'yes', label: 'yes' },
            { value: 'no', label: 'no' },
          ]}
        />
      </div>
    </Input.Wrapper>
  )
}

/** The value of an input with the names that its list gives it. */
export function DeclaredValue({ input, value }: { readonly input: DeclaredInput; readonly value: unknown }) {
  const list_key = input.one_of?.list_key
  const { data } = useQuery({ ...listContentQuery(list_key ?? ''), enabled: list_key !== undefined })
  const field = input.one_of?.field
  const addName = (one: unknown): string => {
    if (input.type === 'decimal' && typeof one === 'string')
      return [groupDigits(one), input.unit].filter(Boolean).join(' ')
    const found = data?.entries.find(({ key, entry }) => (field === undefined ? key : entry[field]) === one)
    const name = found ? getEntryName(found.entry) : null
    return name === null || name === one ? formatEntryValue(one) : `${formatEntryValue(one)} · ${name}`
  }
  return (
    <span {...(input.description !== undefined && { title: input.description })}>
      {Array.isArray(value) && value.length > 0 ? value.map(addName).join(', ') : addName(value)}
    </span>
  )
}
